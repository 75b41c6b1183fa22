// Redis: a script that looks for overlap in a sorted set and adds to it, all or nothing.
// Its clients are connections of their own. It has no TTL for what is in a set.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tests/bench/load/load.h"
#include "tests/bench/load/sockets.h"

namespace interlock::bench {
namespace {

// Live intervals are disjoint: the one that starts last before the asked end decides.
// KEYS: the set, the tokens' counter. ARGV: holder, then start and end of each.
constexpr char kScript[] =
    "for i = 2, #ARGV, 2 do "
    "local last = redis.call('ZREVRANGEBYSCORE', KEYS[1], '(' .. ARGV[i + 1], '-inf', 'LIMIT', 0, "
    "1)[1] "
    "if last and tonumber(string.match(last, '^%d+')) > tonumber(ARGV[i]) then return 0 end end "
    "local token = redis.call('INCR', KEYS[2]) "
    "for i = 2, #ARGV, 2 do "
    "redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1] .. ':' .. ARGV[i] .. ':' .. token .. ':' .. "
    "ARGV[1]) end "
    "return token";

std::string Command(const std::vector<std::string>& words) {
  std::string text = absl::StrCat("*", words.size(), "\r\n");
  for (const auto& word : words) {
    absl::StrAppend(&text, "$", word.size(), "\r\n", word, "\r\n");
  }
  return text;
}

class Connection {
 public:
  explicit Connection(const Plan& plan)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    const size_t colon = plan.target.rfind(':');
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(plan.target.substr(colon + 1))));
    inet_pton(AF_INET, plan.target.substr(0, colon).c_str(), &address.sin_addr);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return connected_; }
  int socket() const { return socket_; }
  Clock::time_point sent() const { return sent_; }

  // A command is far below what a socket takes at once.
  bool Send(const std::vector<std::string>& words) {
    const std::string text = Command(words);
    sent_ = Clock::now();
    reply_.clear();
    return write(socket_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }

  // True once a one-line reply is whole; `reply` then has it.
  bool Read(std::string& reply) {
    char bytes[512];
    const ssize_t count = read(socket_, bytes, sizeof bytes);
    if (count <= 0) {
      reply = "-the connection is gone";
      return true;
    }
    reply_.append(bytes, static_cast<size_t>(count));
    if (reply_.find("\r\n") == std::string::npos) return false;
    reply = reply_;
    return true;
  }

 private:
  const int socket_;
  bool connected_ = false;
  std::string reply_;
  Clock::time_point sent_;
};

// Loads the script; gives its name, empty where that failed.
std::string ScriptName(const Plan& plan) {
  Connection connection(plan);
  if (!connection.connected() || !connection.Send({"SCRIPT", "LOAD", kScript})) return "";
  std::string reply;
  while (!connection.Read(reply) ||
         reply.find("\r\n", reply.find("\r\n") + 2) == std::string::npos) {
    if (reply.empty() || reply[0] != '$') return "";
  }
  return reply.substr(reply.find("\r\n") + 2, 40);
}

}  // namespace

void LoadRedis(const Plan& plan, Meter& meter) {
  const std::string script = ScriptName(plan);
  if (script.empty()) return meter.Failed("redis: it took no script at " + plan.target);
  Sockets sockets;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < plan.clients; ++i) {
    connections.push_back(std::make_unique<Connection>(plan));
    if (!connections.back()->connected()) return meter.Failed("redis: no connection");
    sockets.Add(connections.back()->socket(), static_cast<uint64_t>(i));
  }
  int running = 0;
  const auto next = [&](Connection& connection) {
    const int64_t number = meter.Next();
    if (number < 0) return;
    std::vector<std::string> words = {"EVALSHA",
                                      script,
                                      "2",
                                      plan.datasource,
                                      plan.datasource + ":token",
                                      "bench: nightly backfill"};
    for (const Slot& slot : SlotsOf(plan, static_cast<uint64_t>(number))) {
      words.push_back(std::to_string(slot.start));
      words.push_back(std::to_string(slot.end));
    }
    if (!connection.Send(words)) return meter.Failed("redis: a command was cut");
    ++running;
  };
  for (auto& connection : connections) next(*connection);
  while (running > 0) {
    sockets.Wait([&](uint64_t client) {
      Connection& connection = *connections[client];
      std::string reply;
      if (!connection.Read(reply)) return;
      --running;
      // A token; 0 is a refusal.
      if (reply[0] != ':' || reply[1] == '0') return meter.Failed("redis: " + reply);
      meter.Answered(connection.sent());
      next(connection);
    });
  }
}

}  // namespace interlock::bench
