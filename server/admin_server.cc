#include "server/admin_server.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "CivetServer.h"
#include "absl/strings/str_cat.h"
#include "prometheus/text_serializer.h"

namespace interlock::server {
namespace {

void Reply(mg_connection* connection, int status, const char* reason, const char* type,
           const std::string& body) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n",
            status, reason, type, body.size());
  mg_write(connection, body.data(), body.size());
}

constexpr char kText[] = "text/plain; charset=utf-8";

int LocalPortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
             : 0;
}

// CivetWeb's threads look up from a poll of two seconds, of the port and of connections that
// are kept alive; a socket that is shut wakes them. It does not give its sockets away, so
// those of this process at that port are looked for.
void ShutSocketsAt(int port) {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > STDERR_FILENO && LocalPortOf(fd) == port) (void)shutdown(fd, SHUT_RDWR);
  }
  closedir(folder);
}

class Endpoint : public CivetHandler {
 public:
  explicit Endpoint(std::function<void(mg_connection*)> get) : get_(std::move(get)) {}
  bool handleGet(CivetServer* /*server*/, mg_connection* connection) override {
    get_(connection);
    return true;
  }

 private:
  std::function<void(mg_connection*)> get_;
};

}  // namespace

class AdminServer::Impl {
 public:
  Impl(AdminOptions options, std::shared_ptr<prometheus::Registry> registry)
      : options_(std::move(options)),
        registry_(std::move(registry)),
        metrics_([this](mg_connection* c) { Metrics(c); }),
        health_([](mg_connection* c) { Reply(c, 200, "OK", kText, "alive\n"); }),
        ready_([this](mg_connection* c) { Ready(c); }),
        page_([this](mg_connection* c) { Page(c); }) {}
  ~Impl() {
    if (server_ != nullptr && port() > 0) ShutSocketsAt(port());
  }

  absl::Status Start() {
    // Two threads: a scrape and a probe beside it. No document root: nothing is served
    // from disk.
    const std::vector<std::string> settings = {"listening_ports",       options_.address,
                                               "num_threads",           "2",
                                               "enable_keep_alive",     "yes",
                                               "keep_alive_timeout_ms", "10000",
                                               "request_timeout_ms",    "10000"};
    try {
      server_ = std::make_unique<CivetServer>(settings);
    } catch (const CivetException&) {  // it has no words of use
      return absl::UnavailableError(
          absl::StrCat("admin port: cannot listen on ", options_.address,
                       "; is it taken, by an interlockd that runs already? stop that one, or set "
                       "listen.admin_address"));
    }
    server_->addHandler("/metrics", metrics_);
    server_->addHandler("/healthz", health_);
    server_->addHandler("/readyz", ready_);
    if (options_.page) server_->addHandler("/$", page_);
    return absl::OkStatus();
  }

  int port() const {
    const auto ports = server_->getListeningPorts();
    return ports.empty() ? 0 : ports.front();
  }

 private:
  void Metrics(mg_connection* connection) {
    if (options_.before_scrape) options_.before_scrape();
    Reply(connection, 200, "OK", "text/plain; version=0.0.4; charset=utf-8",
          prometheus::TextSerializer().Serialize(registry_->Collect()));
  }

  void Ready(mg_connection* connection) {
    const absl::Status ready = options_.ready();
    if (ready.ok()) return Reply(connection, 200, "OK", kText, "ready\n");
    Reply(connection, 503, "Service Unavailable", kText, absl::StrCat(ready.message(), "\n"));
  }

  void Page(mg_connection* connection) {
    std::string datasource;
    CivetServer::getParam(connection, "datasource", datasource);
    const absl::StatusOr<std::string> page = options_.page(datasource);
    if (page.ok()) return Reply(connection, 200, "OK", "text/html; charset=utf-8", *page);
    Reply(connection, 503, "Service Unavailable", kText,
          absl::StrCat(page.status().message(), "\n"));
  }

  AdminOptions options_;
  std::shared_ptr<prometheus::Registry> registry_;
  Endpoint metrics_;
  Endpoint health_;
  Endpoint ready_;
  Endpoint page_;
  std::unique_ptr<CivetServer> server_;
};

absl::StatusOr<std::unique_ptr<AdminServer>> AdminServer::Start(AdminOptions options,
                                                                const class Metrics& metrics) {
  auto impl = std::make_unique<Impl>(std::move(options), metrics.registry());
  if (auto status = impl->Start(); !status.ok()) return status;
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;
int AdminServer::port() const { return impl_->port(); }

}  // namespace interlock::server
