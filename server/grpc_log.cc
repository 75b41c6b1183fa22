#include "server/grpc_log.h"

#include <grpc/support/log.h>

#include <string>

#include "server/log.h"

namespace interlock::server {
namespace {

// What gRPC calls an error is most often a peer's: a handshake that failed, a connection
// that broke. Where it is ours, a call of ours fails and says so itself.
LogLevel LevelOf(gpr_log_severity severity) {
  return severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
}

void Write(gpr_log_func_args* line) {
  const LogLevel level = LevelOf(line->severity);
  if (!Logs(level)) return;
  Log(level, line->message,
      {{"from", "grpc"}, {"at", std::string(line->file) + ":" + std::to_string(line->line)}});
}

}  // namespace

void TakeOverGrpcLog() { gpr_set_log_function(&Write); }

}  // namespace interlock::server
