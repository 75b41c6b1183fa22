#include "tests/lib/store/databases/losing_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace interlock::store {
namespace {

constexpr char kLoopback[] = "127.0.0.1";

// The last one counts, as in libpq.
std::string ValueOf(const std::string& dsn, const std::string& name) {
  const size_t at = dsn.rfind(name + "=");
  if (at == std::string::npos) throw std::runtime_error("no " + name + "= in " + dsn);
  const size_t begin = at + name.size() + 1;
  return dsn.substr(begin, dsn.find(' ', begin) - begin);
}

sockaddr_in AddressOf(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    throw std::runtime_error("no address: " + host);
  }
  return address;
}

int ConnectTo(const std::string& dsn) {
  const sockaddr_in address =
      AddressOf(ValueOf(dsn, "host"), std::atoi(ValueOf(dsn, "port").c_str()));
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return server;
  }
  close(server);
  return -1;
}

bool SendAll(int to, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t some = send(to, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) return false;
    sent += static_cast<size_t>(some);
  }
  return true;
}

}  // namespace

LosingProxy::LosingProxy(std::string dsn) : dsn_(std::move(dsn)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = AddressOf(kLoopback, 0);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, any, size) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, any, &size) != 0 || pipe(wake_) != 0) {
    throw std::runtime_error("no socket for the proxy");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

LosingProxy::~LosingProxy() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  close(wake_[1]);
  thread_.join();
  for (auto& [client, pair] : pairs_) Cut(pair);
  close(listener_);
  close(wake_[0]);
}

std::string LosingProxy::dsn() const {
  return absl::StrCat(dsn_, " host=", kLoopback, " port=", port_,
                      " sslmode=disable gssencmode=disable");
}

void LosingProxy::LoseReply(const std::string& query, const std::string& reply, bool away) {
  MutexLock lock(mutex_);
  query_ = query;
  reply_ = reply;
  stay_away_ = away;
}

void LosingProxy::ComeBack() {
  MutexLock lock(mutex_);
  away_ = false;
}

int LosingProxy::lost() const {
  MutexLock lock(mutex_);
  return lost_;
}

void LosingProxy::Run() {
  while (true) {
    std::vector<pollfd> watched = {{listener_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    std::vector<std::pair<int, bool>> whose;  // the client of each, and whether it is that
    for (const auto& [client, pair] : pairs_) {
      watched.push_back({client, POLLIN, 0});
      whose.emplace_back(client, true);
      watched.push_back({pair.server, POLLIN, 0});
      whose.emplace_back(client, false);
    }
    poll(watched.data(), watched.size(), -1);
    {
      MutexLock lock(mutex_);
      if (ending_) return;
    }
    for (size_t i = 0; i < whose.size(); ++i) {
      const auto found = pairs_.find(whose[i].first);
      if (watched[i + 2].revents == 0 || found == pairs_.end()) continue;
      if (Forward(found->second, whose[i].second)) continue;
      Cut(found->second);
      pairs_.erase(found);
    }
    if (watched[0].revents != 0) Accept();
  }
}

void LosingProxy::Accept() {
  Pair pair;
  pair.client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (pair.client < 0) return;
  bool away = false;
  {
    MutexLock lock(mutex_);
    away = away_;
  }
  pair.server = away ? -1 : ConnectTo(dsn_);
  if (pair.server < 0) return Cut(pair);
  pairs_[pair.client] = pair;
}

bool LosingProxy::Forward(Pair& pair, bool from_client) {
  std::string bytes(1 << 16, '\0');
  const ssize_t size = recv(from_client ? pair.client : pair.server, bytes.data(), bytes.size(), 0);
  if (size <= 0) return false;
  bytes.resize(static_cast<size_t>(size));
  if (Lose(pair, bytes, from_client)) return false;
  // An answer that is to be lost is held back until all of it is there.
  if (!from_client && pair.asked) return true;
  return SendAll(from_client ? pair.server : pair.client, bytes);
}

bool LosingProxy::Lose(Pair& pair, const std::string& bytes, bool from_client) {
  MutexLock lock(mutex_);
  if (from_client) {
    pair.asked = pair.asked || (!query_.empty() && absl::StrContains(bytes, query_));
    return false;
  }
  if (!pair.asked) return false;
  pair.answer += bytes;
  if (!absl::StrContains(pair.answer, reply_)) return false;
  query_.clear();
  away_ = stay_away_;
  ++lost_;
  return true;
}

void LosingProxy::Cut(Pair& pair) {
  for (const int socket : {pair.client, pair.server}) {
    if (socket >= 0) close(socket);
  }
}

}  // namespace interlock::store
