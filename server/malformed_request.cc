#include "server/malformed_request.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "lib/time/status_reason.h"
#include "server/log.h"

namespace interlock::server {
namespace {

constexpr char kNotUtf8[] = "contains invalid UTF-8 data when parsing";

// `interlock.v1.ReserveIntervalRequest.purpose`, of the request that was read last here;
// gRPC reads it and goes on with the call on one thread.
std::string& FieldReadLast() {
  thread_local std::string field;
  return field;
}

// "String field 'interlock.v1.ReserveIntervalRequest.purpose' contains invalid UTF-8 data …"
std::string FieldIn(const std::string& message) {
  const size_t begin = message.find('\'');
  const size_t end = message.find('\'', begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return message.substr(begin + 1, end - begin - 1);
}

LogLevel LevelOf(google::protobuf::LogLevel level) {
  return level >= google::protobuf::LOGLEVEL_WARNING ? LogLevel::kWarning : LogLevel::kDebug;
}

void Write(google::protobuf::LogLevel level, const char* file, int line,
           const std::string& message) {
  if (absl::StrContains(message, kNotUtf8)) {
    FieldReadLast() = FieldIn(message);
    return;
  }
  Log(LevelOf(level), message, {{"from", "protobuf"}, {"at", absl::StrCat(file, ":", line)}});
}

}  // namespace

void TakeOverProtobufLog() { google::protobuf::SetLogHandler(&Write); }

absl::Status MalformedRequest(const std::string& method) {
  const std::string full = std::exchange(FieldReadLast(), std::string());
  if (full.empty()) {
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat("the bytes of this call are no request of ", method,
                                                ": send what interlock.v1 describes")),
        "REQUEST_MALFORMED", {{"method", method}});
  }
  const std::string pointer = absl::StrCat("/", full.substr(full.rfind('.') + 1));
  absl::Status status =
      WithReason(absl::InvalidArgumentError(absl::StrCat(full, " is not UTF-8; write it in UTF-8")),
                 "NOT_UTF8", {{"field", full}, {"method", method}});
  AddFault(status, pointer, absl::StrCat(full, " is not UTF-8"), "write it in UTF-8");
  return status;
}

}  // namespace interlock::server
