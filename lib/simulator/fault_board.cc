#include "lib/simulator/fault_board.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"

namespace interlock::simulator {
namespace {

struct KindName {
  const char* name;
  FaultKind kind;
  bool effect;  // unless told otherwise
};

constexpr std::array<KindName, 13> kKinds{{
    {"lost_before", FaultKind::kLostBefore, false},
    {"lost_after", FaultKind::kLostAfter, true},
    {"late", FaultKind::kLate, true},
    {"reset", FaultKind::kReset, false},
    {"delay", FaultKind::kDelay, true},
    {"status", FaultKind::kStatus, false},
    {"truncate", FaultKind::kTruncate, true},
    {"garbage", FaultKind::kGarbage, true},
    {"stale_snapshot", FaultKind::kStaleSnapshot, true},
    {"stuck_task", FaultKind::kStuckTask, true},
    {"failed_task", FaultKind::kFailedTask, true},
    {"failed_but_published", FaultKind::kFailedButPublished, true},
    {"success_but_nothing", FaultKind::kSuccessButNothing, true},
}};

constexpr std::array<const char*, 11> kMembers{"match",  "kind",  "times",        "after",
                                               "walk",   "body",  "content_type", "delay_ms",
                                               "status", "bytes", "effect"};

absl::Status ReadKind(const JsonValue& json, Fault& fault) {
  fault.kind_name = FindString(json, "kind");
  for (const KindName& known : kKinds) {
    if (fault.kind_name != known.name) continue;
    fault.kind = known.kind;
    fault.effect = FindBool(json, "effect", known.effect);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("no fault of kind \"", fault.kind_name, "\""));
}

absl::Status CheckMembers(const JsonValue& json) {
  if (!json.IsObject()) return absl::InvalidArgumentError("a fault is an object");
  for (const auto& member : json.GetObject()) {
    const absl::string_view name = member.name.GetString();
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end()) {
      return absl::InvalidArgumentError(absl::StrCat("a fault has no \"", name, "\""));
    }
  }
  return absl::OkStatus();
}

bool Matches(const Fault& fault, const Request& request) {
  if (!fault.method.empty() && fault.method != request.method) return false;
  if (!fault.path.empty() && fnmatch(fault.path.c_str(), request.path.c_str(), 0) != 0) {
    return false;
  }
  return absl::StrContains(request.body, fault.body_contains);
}

}  // namespace

absl::StatusOr<int> FaultBoard::Add(absl::string_view text, const SegmentTable& now) {
  absl::StatusOr<JsonDocument> json = ParseJson(text);
  if (!json.ok()) return json.status();
  auto fault = std::make_unique<Fault>();
  for (absl::Status read : {CheckMembers(*json), ReadKind(*json, *fault)}) {
    if (!read.ok()) return read;
  }
  fault->method = FindString(*json, "match/method");
  fault->path = FindString(*json, "match/path");
  fault->body_contains = FindString(*json, "match/body_contains");
  fault->times = FindInt(*json, "times").value_or(1);
  fault->after = FindInt(*json, "after").value_or(0);
  if (const std::optional<int64_t> walk = FindInt(*json, "walk")) fault->after = *walk - 1;
  fault->delay = Moment(FindInt(*json, "delay_ms").value_or(0));
  fault->status = static_cast<int>(FindInt(*json, "status").value_or(500));
  fault->body = FindString(*json, "body");
  fault->content_type = FindString(*json, "content_type", fault->content_type);
  fault->bytes = FindInt(*json, "bytes");
  if (fault->kind == FaultKind::kStaleSnapshot) {
    fault->snapshot = std::make_shared<const Snapshot>(TakeSnapshot(now));
  }
  fault->id = next_id_++;
  faults_.push_back(std::move(fault));
  return faults_.back()->id;
}

bool FaultBoard::Remove(int id) {
  const auto found = std::find_if(faults_.begin(), faults_.end(),
                                  [&](const auto& fault) { return fault->id == id; });
  if (found == faults_.end()) return false;
  faults_.erase(found);
  return true;
}

const Fault* FaultBoard::Meet(const Request& request) {
  const Fault* met = nullptr;
  for (const auto& fault : faults_) {
    if (!Matches(*fault, request)) continue;
    ++fault->matched;
    const bool now = fault->matched > fault->after &&
                     (fault->times == 0 || fault->matched <= fault->after + fault->times);
    if (!now || met != nullptr) continue;
    ++fault->hits;
    met = fault.get();
  }
  return met;
}

std::string FaultBoard::ToJson() const {
  JsonWriter out;
  out.Array();
  for (const auto& fault : faults_) {
    out.Object().Member("id", fault->id).Member("kind", fault->kind_name);
    out.Key("match").Object().Member("method", fault->method).Member("path", fault->path);
    out.Member("body_contains", fault->body_contains).End();
    out.Member("after", fault->after).Member("times", fault->times);
    out.Member("matched", fault->matched).Member("hits", fault->hits).End();
  }
  out.End();
  return out.Take();
}

}  // namespace interlock::simulator
