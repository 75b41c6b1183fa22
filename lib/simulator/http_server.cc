#include "lib/simulator/http_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "civetweb.h"

namespace interlock::simulator {
namespace {

// Kept-alive connections each hold one of CivetWeb's threads.
constexpr char kThreads[] = "40";
constexpr char kKeepAliveMillis[] = "5000";
constexpr std::chrono::milliseconds kGrace{200};  // for replies that are on their way
constexpr size_t kMaxBodyBytes = size_t{64} << 20;

std::string Header(mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

std::string ReadBody(mg_connection* connection) {
  std::string body;
  char piece[16384];
  int got = 0;
  while (body.size() < kMaxBodyBytes && (got = mg_read(connection, piece, sizeof(piece))) > 0) {
    body.append(piece, got);
  }
  return body;
}

Request ReadRequest(mg_connection* connection) {
  const mg_request_info* info = mg_get_request_info(connection);
  Request request;
  request.method = info->request_method;
  request.SetTarget(info->request_uri, info->query_string == nullptr ? "" : info->query_string);
  request.host = Header(connection, "Host");
  request.accept = Header(connection, "Accept");
  request.body = ReadBody(connection);
  return request;
}

std::string Render(const Delivery& delivery, bool keep_alive) {
  const Reply& reply = delivery.reply;
  std::string text =
      absl::StrCat("HTTP/1.1 ", reply.status, " ", mg_get_response_code_text(nullptr, reply.status),
                   "\r\nDate: ", delivery.date, "\r\n");
  if (!reply.content_type.empty()) {
    absl::StrAppend(&text, "Content-Type: ", reply.content_type, "\r\n");
  }
  for (const auto& [name, value] : reply.headers) absl::StrAppend(&text, name, ": ", value, "\r\n");
  if (reply.status != 204) absl::StrAppend(&text, "Content-Length: ", reply.body.size(), "\r\n");
  if (!keep_alive) absl::StrAppend(&text, "Connection: close\r\n");
  const bool cut = delivery.way == Delivery::Way::kTruncated;
  return absl::StrCat(text, "\r\n", cut ? reply.body.substr(0, delivery.bytes) : reply.body);
}

enum class End { kOurs, kTheirs };

int PortOf(int fd, End end) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const int failed =
      end == End::kOurs ? getsockname(fd, generic, &size) : getpeername(fd, generic, &size);
  return failed == 0 && address.sin_family == AF_INET ? ntohs(address.sin_port) : 0;
}

// CivetWeb does not give its sockets away: those of this process with that port at that
// end. The other end of a connection inside this process has the ports the other way
// round, and is not among them.
std::vector<int> SocketsAt(int port, End end) {
  std::vector<int> sockets;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return sockets;
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > 2 && PortOf(fd, end) == port) sockets.push_back(fd);
  }
  closedir(folder);
  return sockets;
}

// CivetWeb closes in good order; connecting a socket to nothing makes Linux send RST.
void ResetConnection(int remote_port) {
  sockaddr nothing{};
  nothing.sa_family = AF_UNSPEC;
  for (const int fd : SocketsAt(remote_port, End::kTheirs)) {
    (void)connect(fd, &nothing, sizeof(nothing));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(int port, Handler handler) {
  auto server = std::unique_ptr<HttpServer>(new HttpServer(std::move(handler)));
  server->port_ = port;
  absl::Status started = server->StartListening();
  if (!started.ok()) return started;
  return server;
}

HttpServer::~HttpServer() { StopListening(); }

absl::Status HttpServer::StartListening() {
  if (context_ != nullptr) return absl::OkStatus();
  mg_callbacks callbacks{};
  callbacks.begin_request = &HttpServer::Serve;
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
  const std::string ports = absl::StrCat("127.0.0.1:", port_);
  const char* options[] = {"listening_ports",
                           ports.c_str(),
                           "num_threads",
                           kThreads,
                           "enable_keep_alive",
                           "yes",
                           "keep_alive_timeout_ms",
                           kKeepAliveMillis,
                           "tcp_nodelay",
                           "1",
                           "decode_url",
                           "no",
                           nullptr};
  context_ = mg_start(&callbacks, this, options);
  if (context_ == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot listen on 127.0.0.1:", port_));
  }
  mg_server_port bound{};
  if (port_ == 0 && mg_get_server_ports(context_, 1, &bound) == 1) port_ = bound.port;
  return absl::OkStatus();
}

void HttpServer::StopListening() {
  if (context_ == nullptr) return;
  {
    MutexLock lock(mutex_);
    while (answering_ > 0 && answered_.WaitFor(lock, kGrace)) {
    }
  }
  // Its threads look up from a poll of two seconds; a socket that is shut wakes them.
  for (const int fd : SocketsAt(port_, End::kOurs)) (void)shutdown(fd, SHUT_RDWR);
  mg_stop(context_);
  context_ = nullptr;
}

int HttpServer::Serve(mg_connection* connection) {
  auto* server = static_cast<HttpServer*>(mg_get_user_data(mg_get_context(connection)));
  server->Answer(connection);
  return 1;
}

void HttpServer::Answer(mg_connection* connection) {
  {
    MutexLock lock(mutex_);
    ++answering_;
  }
  Deliver(connection);
  MutexLock lock(mutex_);
  --answering_;
  answered_.NotifyAll();
}

void HttpServer::Deliver(mg_connection* connection) {
  const Delivery delivery = handler_(ReadRequest(connection));
  const bool whole = delivery.way == Delivery::Way::kWhole;
  if (!whole) mg_disable_connection_keep_alive(connection);
  if (delivery.way == Delivery::Way::kReset) {
    ResetConnection(mg_get_request_info(connection)->remote_port);
    return;
  }
  if (delivery.way == Delivery::Way::kNothing) return;
  const std::string text = Render(delivery, whole);
  mg_write(connection, text.data(), text.size());
}

}  // namespace interlock::simulator
