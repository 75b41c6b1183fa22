// interlockd: reads its configuration, serves until it is told to stop, drains.
#include <pthread.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/str_cat.h"
#include "lib/time/clock.h"
#include "server/config.h"
#include "server/interlock_server.h"
#include "server/log.h"
#include "server/store_schemas.h"
#include "server/version.h"

ABSL_FLAG(std::string, config, "", "the configuration, protobuf text (config.proto documents it)");
ABSL_FLAG(bool, check, false, "check the configuration, say each fault with its line, exit 2");
ABSL_FLAG(bool, dev, false, "everything embedded, on loopback, the simulator for Druid");
ABSL_FLAG(std::string, dir, ".interlock-dev", "with --dev: where state is kept between starts");
ABSL_FLAG(bool, migrate, false, "bring the store's schema up, then exit");
ABSL_FLAG(std::string, backup, "", "copy the store to this file while it is in use, then exit");

namespace interlock::server {
namespace {

// Exit codes, as in sysexits of old but two: 0 done, 2 the configuration or the flags are
// at fault, 1 anything else.
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "interlockd: %s\n", std::string(status.message()).c_str());
  return code;
}

absl::StatusOr<config::v1::ServerConfig> Configuration() {
  const std::string path = absl::GetFlag(FLAGS_config);
  if (absl::GetFlag(FLAGS_dev)) {
    if (!path.empty()) return absl::InvalidArgumentError("--dev goes without --config");
    const std::string dir = absl::GetFlag(FLAGS_dir);
    mkdir(dir.c_str(), 0750);  // an error shows when the store is opened in it
    return DevConfig(dir);
  }
  if (path.empty()) return absl::InvalidArgumentError("give --config FILE, or --dev");
  return LoadConfig(path);
}

void ApplyLog(const config::v1::Log& log) {
  LogLevel level = LogLevel::kInfo;
  if (log.level() == config::v1::Log::LEVEL_DEBUG) level = LogLevel::kDebug;
  if (log.level() == config::v1::Log::LEVEL_WARNING) level = LogLevel::kWarning;
  if (log.level() == config::v1::Log::LEVEL_ERROR) level = LogLevel::kError;
  SetLog(level, log.format() == config::v1::Log::TEXT ? LogFormat::kText : LogFormat::kJson);
}

// SIGHUP: what can change without a restart is taken over, the rest is said.
void Reload() {
  if (absl::GetFlag(FLAGS_dev)) return;
  const auto config = LoadConfig(absl::GetFlag(FLAGS_config));
  if (!config.ok()) {
    return Log(LogLevel::kError, "configuration not taken over",
               {{"error", std::string(config.status().message())}});
  }
  ApplyLog(config->log());
  Log(LogLevel::kInfo, "configuration read again: log settings taken over, the rest at a restart");
}

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

int Serve(const config::v1::ServerConfig& config) {
  // Before any thread is made, so that all of them leave the signals to sigwait.
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const SystemClock clock;
  auto server = InterlockServer::Start(config, clock);
  if (!server.ok()) return Fail(server.status(), kFailed);
  Log(LogLevel::kInfo, "serving",
      {{"address", (*server)->address()},
       {"admin", (*server)->admin_address()},
       {"version", kVersion}});
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) Reload();
  Log(LogLevel::kInfo, "draining", {{"signal", std::to_string(signal)}});
  (*server)->Drain();
  Log(LogLevel::kInfo, "drained");
  return 0;
}

int Main() {
  auto config = Configuration();
  if (!config.ok()) return Fail(config.status(), kBadUsage);
  if (absl::GetFlag(FLAGS_check)) return 0;
  ApplyLog(config->log());
  const SystemClock clock;
  if (absl::GetFlag(FLAGS_migrate)) {
    const auto status = MigrateStore(*config, clock);
    return status.ok() ? 0 : Fail(status, kFailed);
  }
  if (const std::string to = absl::GetFlag(FLAGS_backup); !to.empty()) {
    const auto status = BackupStore(*config, to);
    return status.ok() ? 0 : Fail(status, kFailed);
  }
  return Serve(*config);
}

}  // namespace
}  // namespace interlock::server

int main(int argc, char** argv) {
  absl::FlagsUsageConfig usage;
  usage.version_string = [] {
    return absl::StrCat("interlockd ", interlock::server::kVersion, "\n");
  };
  absl::SetFlagsUsageConfig(usage);
  absl::SetProgramUsageMessage(
      "the authority that everyone who writes to Apache Druid asks for time");
  const auto rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    std::fprintf(stderr, "interlockd: unknown argument '%s'\n", rest[1]);
    return 2;
  }
  return interlock::server::Main();
}
