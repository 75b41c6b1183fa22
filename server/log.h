// The log, on standard error: one JSON object a line, or text for people. Every line
// has its fields apart from its message, so that a request, a reservation, a backfill
// and a task can be followed by id. Secrets never get here: what is logged is named.
//
// Threads: any.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace interlock::server {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kJson, kText };

using LogFields = std::vector<std::pair<std::string, std::string>>;

// What is written from now on. Before the first call: kInfo, kJson.
void SetLog(LogLevel level, LogFormat format);

// Whether such a line would be written: for what is costly to put together.
bool Logs(LogLevel level);

void Log(LogLevel level, const std::string& message, const LogFields& fields = {});

}  // namespace interlock::server
