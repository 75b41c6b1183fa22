#include "server/config.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "re2/re2.h"
#include "server/config_defaults.h"
#include "server/config_rules.h"

namespace interlock::server {
namespace {

// `Message type "interlock.config.v1.Druid" has no field named "acces".`, with those it has.
std::string WithFieldsThatAre(const std::string& message) {
  static const RE2 kUnknown(R"re(Message type "([^"]+)" has no field named "([^"]+)"\.)re");
  std::string type;
  std::string field;
  if (!RE2::FullMatch(message, kUnknown, &type, &field)) return message;
  const auto* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (descriptor == nullptr) return message;
  std::string text = absl::StrCat("'", field, "' is no field of ", descriptor->name(), "; it has ");
  for (int i = 0; i < descriptor->field_count(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", descriptor->field(i)->name());
  }
  return text;
}

// `Unknown enumeration value of "OBSERV" for field "access".`, with those it may have.
std::string WithValuesThatAre(const std::string& message) {
  static const RE2 kUnknown(R"re(Unknown enumeration value of "([^"]+)" for field "([^"]+)"\.)re");
  std::string value;
  std::string name;
  if (!RE2::FullMatch(message, kUnknown, &value, &name)) return message;
  const auto* file = config::v1::ServerConfig::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    const auto* field = file->message_type(i)->FindFieldByName(name);
    if (field == nullptr || field->enum_type() == nullptr) continue;
    std::string text = absl::StrCat(name, ": '", value, "' is none of ");
    for (int at = 1; at < field->enum_type()->value_count(); ++at) {
      absl::StrAppend(&text, at == 1 ? "" : ", ", field->enum_type()->value(at)->name());
    }
    return text;
  }
  return message;
}

std::string ForPeople(const std::string& message) {
  if (absl::StartsWith(message, "Unknown enum")) return WithValuesThatAre(message);
  if (absl::StartsWith(message, "Expected string")) {
    return absl::StrCat(message, ". A text stands in quotes: \"…\".");
  }
  if (message == "Expected identifier, got: ") {
    return "The file ends where a field or a } should be.";
  }
  if (!absl::StartsWith(message, "Expected \"{\"")) return WithFieldsThatAre(message);
  return absl::StrCat(message,
                      " What has fields is written { … }, a length of time { seconds: 30 }.");
}

// A field that there is not is a warning to the parser, which goes on: so all are told at once.
class Collector : public google::protobuf::io::ErrorCollector {
 public:
  Collector(const std::string& text, std::vector<ConfigFault>& faults)
      : lines_(absl::StrSplit(text, '\n')), faults_(faults) {}
  void AddError(int line, int /*column*/, const std::string& message) override {
    faults_.push_back({LineOf(message, line) + 1, ForPeople(message)});
  }
  void AddWarning(int line, int column, const std::string& message) override {
    AddError(line, column, message);
  }

 private:
  // A value that is none is told where the parser is by then: at what follows it.
  int LineOf(const std::string& message, int line) const {
    static const RE2 kValue(R"re(Unknown enumeration value of "([^"]+)" .*)re");
    std::string value;
    if (!RE2::FullMatch(message, kValue, &value)) return line;
    for (int at = std::min(line, static_cast<int>(lines_.size()) - 1); at >= 0; --at) {
      if (absl::StrContains(lines_[static_cast<size_t>(at)], value)) return at;
    }
    return line;
  }

  const std::vector<std::string> lines_;
  std::vector<ConfigFault>& faults_;
};

}  // namespace

CheckedConfig CheckConfig(const std::string& text) {
  CheckedConfig checked;
  Collector collector(text, checked.faults);
  google::protobuf::TextFormat::ParseInfoTree lines;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.WriteLocationsTo(&lines);
  parser.AllowUnknownField(true);
  if (!parser.ParseFromString(text, &checked.config)) return checked;
  ApplyRules(checked.config, lines, checked.faults);
  FillDefaults(checked.config);
  return checked;
}

absl::StatusOr<config::v1::ServerConfig> LoadConfig(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the configuration ", path, ": ", std::strerror(errno)));
  }
  std::ostringstream text;
  text << file.rdbuf();
  CheckedConfig checked = CheckConfig(text.str());
  if (checked.faults.empty()) return std::move(checked.config);
  std::string all;
  for (const auto& fault : checked.faults) {
    absl::StrAppend(&all, all.empty() ? "" : "\n", path, ":",
                    fault.line > 0 ? absl::StrCat(fault.line, ":") : "", " ", fault.text);
  }
  return absl::InvalidArgumentError(all);
}

config::v1::ServerConfig DevConfig(const std::string& dir) {
  config::v1::ServerConfig config;
  config.mutable_store()->mutable_sqlite()->set_path(dir + "/interlock.db");
  config.mutable_druid()->set_simulated(true);
  config.mutable_log()->set_format(config::v1::Log::TEXT);
  // Seconds in place of hours, so that a whole drop can be watched.
  config.mutable_drops()->mutable_min_window()->set_seconds(1);
  config.mutable_drops()->mutable_settle_time()->set_nanos(200'000'000);
  config.mutable_backfills()->mutable_settle_time()->set_nanos(200'000'000);
  config.mutable_backfills()->mutable_poll_interval()->set_nanos(100'000'000);
  FillDefaults(config);
  return config;
}

absl::Duration ToAbsl(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

}  // namespace interlock::server
