#include "server/presence.h"

#include <unistd.h>

#include <array>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "lib/work/replicas.h"
#include "server/version.h"

namespace interlock::server {
namespace {

constexpr std::chrono::seconds kEvery{10};

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

}  // namespace

Presence::Presence(store::Store& store, const std::string& address)
    : store_(store), name_(absl::StrCat(HostName(), "/", address)), thread_([this] { Run(); }) {}

Presence::~Presence() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void Presence::Run() {
  while (true) {
    // Where the store is away, its health says so; the next round tries again.
    store_
        .WriteLocked(
            {}, [this](store::Transaction& tx) { return work::NoteReplica(tx, name_, kVersion); })
        .IgnoreError();
    MutexLock lock(mutex_);
    if (!ending_) wake_.WaitFor(lock, kEvery);
    if (ending_) return;
  }
}

}  // namespace interlock::server
