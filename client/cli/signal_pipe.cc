#include "client/cli/signal_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace interlock::cli {
namespace {

constexpr std::array<int, 7> kCaught = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                        SIGUSR1, SIGUSR2, SIGCHLD};

// What a handler may touch: two file descriptors.
std::atomic<int> write_end{-1};
std::atomic<int> read_end{-1};
std::array<struct sigaction, kCaught.size()> former;
bool caught = false;

void Write(int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe has enough in it to wake who waits.
  [[maybe_unused]] const auto written = write(write_end.load(), &byte, 1);
}

void OnSignal(int signal) {
  const int error = errno;
  Write(signal);
  errno = error;
}

}  // namespace

SignalPipe::SignalPipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  read_end = ends[0];
  write_end = ends[1];
}

SignalPipe::~SignalPipe() {
  for (size_t i = 0; caught && i < kCaught.size(); ++i) {
    sigaction(kCaught[i], &former[i], nullptr);
  }
  caught = false;
  close(read_end.exchange(-1));
  close(write_end.exchange(-1));
}

void SignalPipe::Catch() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kCaught.size(); ++i) {
    sigaction(kCaught[i], nullptr, &former[i]);
    if (former[i].sa_handler != SIG_IGN || kCaught[i] == SIGCHLD) {
      sigaction(kCaught[i], &action, nullptr);
    }
  }
  caught = true;
}

std::vector<int> SignalPipe::Wait(absl::Duration longest) {
  struct pollfd waited = {read_end.load(), POLLIN, 0};
  const auto millis = std::clamp<int64_t>(absl::ToInt64Milliseconds(longest), 0, 60'000);
  poll(&waited, 1, static_cast<int>(millis));
  std::array<unsigned char, 64> bytes;
  const auto read_count = read(read_end.load(), bytes.data(), bytes.size());
  return read_count > 0 ? std::vector<int>(bytes.begin(), bytes.begin() + read_count)
                        : std::vector<int>();
}

void SignalPipe::Wake() { Write(0); }

}  // namespace interlock::cli
