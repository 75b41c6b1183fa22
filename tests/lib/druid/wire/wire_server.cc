#include "tests/lib/druid/wire/wire_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace interlock::druid {
namespace {

int Listen(int* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  static_cast<void>(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  listen(fd, 64);
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  *port = ntohs(address.sin_port);
  return fd;
}

size_t ContentLength(const std::string& head) {
  const std::string lower = absl::AsciiStrToLower(head);
  const size_t at = lower.find("content-length:");
  if (at == std::string::npos) return 0;
  size_t length = 0;
  const size_t end = lower.find('\r', at);
  if (!absl::SimpleAtoi(lower.substr(at + 15, end - at - 15), &length)) return 0;
  return length;
}

}  // namespace

bool WireConnection::Fill() {
  char buffer[65536];
  const ssize_t got = recv(fd_, buffer, sizeof(buffer), 0);
  if (got <= 0) return false;
  received_.append(buffer, static_cast<size_t>(got));
  return true;
}

std::optional<std::string> WireConnection::ReadRequest() {
  size_t head = std::string::npos;
  while ((head = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return std::nullopt;
  }
  const size_t whole = head + 4 + ContentLength(received_.substr(0, head));
  while (received_.size() < whole) {
    if (!Fill()) return std::nullopt;
  }
  std::string request = received_.substr(0, whole);
  received_.erase(0, whole);
  return request;
}

bool WireConnection::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool WireConnection::Reply(int status, const std::string& body, const std::string& headers) {
  return Write(absl::StrCat("HTTP/1.1 ", status, " Whatever\r\nContent-Length: ", body.size(),
                            "\r\n", headers, "\r\n", body));
}

void WireConnection::Reset() {
  const linger at_once{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

void WireConnection::WaitForClose() {
  while (Fill()) received_.clear();
}

WireServer::WireServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = Listen(&port_);
  acceptor_ = std::thread([this] { Accept(); });
}

WireServer::~WireServer() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  {
    const MutexLock lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

std::string WireServer::url() const { return absl::StrCat("http://127.0.0.1:", port_); }

void WireServer::Accept() {
  while (true) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    ++connections_;
    const MutexLock lock(mutex_);
    if (closing_) {
      close(fd);
      return;
    }
    open_.insert(fd);
    threads_.emplace_back([this, fd] { Serve(fd); });
  }
}

void WireServer::Serve(int fd) {
  WireConnection connection(fd);
  handler_(connection);
  const MutexLock lock(mutex_);
  open_.erase(fd);
  close(fd);
}

std::string RefusingUrl() {
  int port = 0;
  close(Listen(&port));
  return absl::StrCat("http://127.0.0.1:", port);
}

}  // namespace interlock::druid
