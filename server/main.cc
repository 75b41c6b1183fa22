// interlockd: reads its configuration, serves until it is told to stop, drains.
#include <malloc.h>
#include <pthread.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "lib/time/clock.h"
#include "server/command_line.h"
#include "server/config.h"
#include "server/grpc_log.h"
#include "server/interlock_server.h"
#include "server/log.h"
#include "server/malformed_request.h"
#include "server/store_schemas.h"
#include "server/version.h"

namespace interlock::server {
namespace {

// Exit codes, as in sysexits of old but two: 0 done, 2 the configuration or the flags are
// at fault, 1 anything else.
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

// Heaps that threads share. By default glibc makes eight for each core, each keeps what its
// busiest moment needed, and a sweep's memory grows by the threads that ever read a page.
constexpr int kHeaps = 4;

int Fail(const absl::Status& status, int code) {
  std::fprintf(stderr, "interlockd: %s\n", std::string(status.message()).c_str());
  return code;
}

// What cannot be made of a sound machine's configuration is the configuration's fault.
int CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? kBadUsage : kFailed;
}

absl::StatusOr<config::v1::ServerConfig> Configuration(const CommandLine& line) {
  if (!line.dev) return LoadConfig(line.config);
  mkdir(line.dev_dir.c_str(), 0750);  // an error shows when the store is opened in it
  return DevConfig(line.dev_dir);
}

void ApplyLog(const config::v1::Log& log) {
  LogLevel level = LogLevel::kInfo;
  if (log.level() == config::v1::Log::LEVEL_DEBUG) level = LogLevel::kDebug;
  if (log.level() == config::v1::Log::LEVEL_WARNING) level = LogLevel::kWarning;
  if (log.level() == config::v1::Log::LEVEL_ERROR) level = LogLevel::kError;
  SetLog(level, log.format() == config::v1::Log::TEXT ? LogFormat::kText : LogFormat::kJson);
}

// SIGHUP: what can change without a restart is taken over, the rest is said.
void Reload(const CommandLine& line, InterlockServer& server) {
  if (line.dev) return;
  const auto config = LoadConfig(line.config);
  if (!config.ok()) {
    return Log(LogLevel::kError, "configuration not taken over",
               {{"error", std::string(config.status().message())}});
  }
  ApplyLog(config->log());
  const std::vector<std::string> waiting = server.Reload(*config);
  LogFields fields;
  if (!waiting.empty()) fields.emplace_back("at_a_restart", absl::StrJoin(waiting, ", "));
  Log(LogLevel::kInfo, "configuration read again: the log's and the leases' settings are in force",
      fields);
}

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Whether a signal to stop comes while it waits. SIGHUP has nothing to reload yet.
bool StopsWithin(const sigset_t& signals, absl::Duration pause) {
  const timespec time = absl::ToTimespec(pause);
  const int signal = sigtimedwait(&signals, nullptr, &time);
  return signal == SIGTERM || signal == SIGINT;
}

int Serve(const CommandLine& line, const config::v1::ServerConfig& config) {
  // Before any thread is made, so that all of them leave the signals to sigwait.
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const SystemClock clock;
  auto server = InterlockServer::Start(
      config, clock, [&signals](absl::Duration pause) { return !StopsWithin(signals, pause); });
  if (absl::IsCancelled(server.status())) return 0;
  if (!server.ok()) return Fail(server.status(), CodeOf(server.status()));
  Log(LogLevel::kInfo, "serving",
      {{"address", (*server)->address()},
       {"admin", (*server)->admin_address()},
       {"version", kVersion}});
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) Reload(line, **server);
  Log(LogLevel::kInfo, "draining", {{"signal", std::to_string(signal)}});
  (*server)->Drain();
  // What holds the store goes before it is said that all is done: another server may open it.
  server->reset();
  Log(LogLevel::kInfo, "drained");
  return 0;
}

int Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

int Run(const CommandLine& line) {
  using Task = CommandLine::Task;
  if (line.task == Task::kHelp) return Print(CommandLineHelp());
  if (line.task == Task::kVersion) return Print(absl::StrCat("interlockd ", kVersion, "\n"));
  const auto config = Configuration(line);
  if (!config.ok()) return Fail(config.status(), kBadUsage);
  if (line.task == Task::kCheck) return 0;
  ApplyLog(config->log());
  TakeOverGrpcLog();
  TakeOverProtobufLog();
  const SystemClock clock;
  absl::Status done;
  if (line.task == Task::kServe) return Serve(line, *config);
  if (line.task == Task::kMigrate) done = MigrateStore(*config, clock);
  if (line.task == Task::kBackup) done = BackupStore(*config, line.backup_to);
  return done.ok() ? 0 : Fail(done, CodeOf(done));
}

int Main(int argc, char* const argv[]) {
  mallopt(M_ARENA_MAX, kHeaps);
  const auto line = ParseCommandLine(argc, argv);
  return line.ok() ? Run(*line) : Fail(line.status(), kBadUsage);
}

}  // namespace
}  // namespace interlock::server

int main(int argc, char** argv) { return interlock::server::Main(argc, argv); }
