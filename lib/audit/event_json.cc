#include "lib/audit/event_json.h"

#include "rapidjson/document.h"

namespace interlock::audit {
namespace {

void Read(const std::string& json, RecordedEvent& event) {
  if (json.empty()) return;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json);
  if (document.HasParseError() || !document.IsObject()) return;
  const auto holder = document.FindMember("holder");
  if (event.holder.empty() && holder != document.MemberEnd() && holder->value.IsString()) {
    event.holder = holder->value.GetString();
  }
  if (!event.intervals.empty()) return;
  const auto one = document.FindMember("interval");
  if (one != document.MemberEnd() && one->value.IsString()) {
    event.intervals.emplace_back(one->value.GetString());
  }
  const auto many = document.FindMember("intervals");
  if (many == document.MemberEnd() || !many->value.IsArray()) return;
  for (const auto& interval : many->value.GetArray()) {
    if (interval.IsString()) event.intervals.emplace_back(interval.GetString());
  }
}

}  // namespace

void ReadDetails(RecordedEvent& event) {
  Read(event.event.after, event);
  Read(event.event.before, event);
}

}  // namespace interlock::audit
