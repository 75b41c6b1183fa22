#include "server/log.h"

#include <atomic>
#include <memory>

#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace interlock::server {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// The line's own members are made here, since a message needs escaping; the time and
// the level come from spdlog's pattern around them.
std::string JsonMembers(const std::string& message, const LogFields& fields) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.StartObject();
  writer.Key("message");
  writer.String(message.data(), static_cast<rapidjson::SizeType>(message.size()));
  for (const auto& [key, value] : fields) {
    writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
    writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  writer.EndObject();
  return buffer.GetString() + 1;  // without the brace that the pattern has opened
}

std::string TextMembers(const std::string& message, const LogFields& fields) {
  std::string line = message;
  for (const auto& [key, value] : fields) line.append(" ").append(key).append("=").append(value);
  return line;
}

class Logger {
 public:
  static Logger& Get() {
    static auto* logger = new Logger();  // never destroyed: threads may log to the end
    return *logger;
  }

  void Set(LogLevel level, LogFormat format) {
    format_ = format;
    logger_->set_level(ToSpdlog(level));
    logger_->set_pattern(format == LogFormat::kJson
                             ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)"
                             : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v",
                         spdlog::pattern_time_type::utc);
  }
  bool Writes(LogLevel level) const { return logger_->should_log(ToSpdlog(level)); }
  void Write(LogLevel level, const std::string& message, const LogFields& fields) {
    if (!Writes(level)) return;
    logger_->log(ToSpdlog(level), format_ == LogFormat::kJson ? JsonMembers(message, fields)
                                                              : TextMembers(message, fields));
  }

 private:
  Logger()
      : logger_(std::make_shared<spdlog::logger>(
            "interlock", std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
    logger_->flush_on(spdlog::level::debug);
    Set(LogLevel::kInfo, LogFormat::kJson);
  }

  std::shared_ptr<spdlog::logger> logger_;
  std::atomic<LogFormat> format_ = LogFormat::kJson;
};

}  // namespace

void SetLog(LogLevel level, LogFormat format) { Logger::Get().Set(level, format); }

bool Logs(LogLevel level) { return Logger::Get().Writes(level); }

void Log(LogLevel level, const std::string& message, const LogFields& fields) {
  Logger::Get().Write(level, message, fields);
}

}  // namespace interlock::server
