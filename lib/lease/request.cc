#include "lib/lease/request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/audit/json_object.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/packed.h"
#include "lib/time/duration.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {
namespace {

constexpr size_t kMaxPurposeBytes = 256;
constexpr size_t kMaxLabels = 32;
constexpr size_t kMaxLabelKeyBytes = 64;
constexpr size_t kMaxLabelValueBytes = 256;

void CheckTexts(const ReserveRequest& request, absl::Status& status) {
  if (request.purpose.size() > kMaxPurposeBytes) {
    AddFault(status, "/purpose", absl::StrCat("it has ", request.purpose.size(), " bytes"),
             absl::StrCat("at most ", kMaxPurposeBytes));
  }
  if (request.labels.size() > kMaxLabels) {
    AddFault(status, "/labels", absl::StrCat("there are ", request.labels.size()),
             absl::StrCat("at most ", kMaxLabels));
  }
  for (const auto& [name, value] : request.labels) {
    if (name.empty()) AddFault(status, "/labels", "one has no name", "a name for each");
    if (name.size() <= kMaxLabelKeyBytes && value.size() <= kMaxLabelValueBytes) continue;
    AddFault(status, absl::StrCat("/labels/", name.substr(0, kMaxLabelKeyBytes)), "it is too long",
             absl::StrCat("a key of at most ", kMaxLabelKeyBytes, " bytes and a value of at most ",
                          kMaxLabelValueBytes));
  }
}

absl::Status Faults(const ReserveRequest& request) {
  absl::Status status = InvalidReservation();
  if (request.datasource.empty())
    AddFault(status, "/datasource", "it is empty", "name a datasource");
  if (request.holder.empty()) AddFault(status, "/holder", "it is empty", "a name");
  if (request.intervals.empty()) AddFault(status, "/intervals", "there are none", "one or more");
  for (size_t i = 0; i < request.intervals.size(); ++i) {
    if (!request.intervals[i].empty()) continue;
    AddFault(status, absl::StrCat("/intervals/", i),
             absl::StrCat(request.intervals[i].ToString(), " is empty"), "an end after the start");
  }
  CheckTexts(request, status);
  return FaultsOf(status).empty() ? absl::OkStatus() : status;
}

std::string LabelText(const Labels& labels) {
  return absl::StrJoin(labels, ", ", absl::PairFormatter("="));
}

// A field's value as people read it.
std::string Readable(const std::string& field, const std::string& value) {
  int64_t millis = 0;
  if (field == "intervals") return absl::StrJoin(Printed(UnpackIntervals(value)), ", ");
  if (field == "ttl" && absl::SimpleAtoi(value, &millis)) {
    return interlock::FormatDuration(absl::Milliseconds(millis));
  }
  return value;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields FieldsOf(const ReserveRequest& request) {
  return {{"datasource", request.datasource},
          {"intervals", PackIntervals(Condense(request.intervals))},
          {"mode", std::string(NameOf(request.mode))},
          {"ttl", absl::StrCat(absl::ToInt64Milliseconds(request.ttl))},
          {"purpose", request.purpose},
          {"labels", LabelText(request.labels)},
          {"skip_held", request.skip_held ? "true" : "false"},
          {"partitions", request.partitions ? request.partitions->ToString() : ""}};
}

std::string ValueOf(const std::vector<std::string>& texts, const std::string& name) {
  for (size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (texts[i] == name) return texts[i + 1];
  }
  return "";
}

}  // namespace

std::vector<std::string> Printed(const std::vector<Interval>& intervals) {
  std::vector<std::string> printed;
  printed.reserve(intervals.size());
  for (const Interval& interval : intervals) printed.push_back(interval.ToString());
  return printed;
}

absl::Status CheckRequestId(const std::string& id) {
  constexpr size_t kLongest = 128;
  const bool printable =
      std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  return printable && id.size() <= kLongest ? absl::OkStatus() : RequestIdInvalid(id.size());
}

absl::Status CheckTtl(absl::Duration ttl, const Limits& limits) {
  if (ttl < limits.shortest_ttl) {
    return RequestBeyondLimit("ttl", "min_ttl", interlock::FormatDuration(limits.shortest_ttl),
                              interlock::FormatDuration(ttl));
  }
  if (ttl > limits.longest_ttl) {
    return RequestBeyondLimit("ttl", "max_ttl", interlock::FormatDuration(limits.longest_ttl),
                              interlock::FormatDuration(ttl));
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const ReserveRequest& request, const Limits& limits) {
  absl::Status status = Faults(request);
  if (status.ok()) status = CheckRequestId(request.request_id);
  if (status.ok()) status = CheckTtl(request.ttl, limits);
  if (status.ok() && request.wait > limits.longest_wait) {
    status = RequestBeyondLimit("wait", "max_wait", interlock::FormatDuration(limits.longest_wait),
                                interlock::FormatDuration(request.wait));
  }
  if (!status.ok()) return status;
  const auto count = static_cast<int64_t>(request.intervals.size());
  if (count > limits.intervals_per_call) {
    return RequestBeyondLimit("intervals", "max_intervals_per_call",
                              absl::StrCat(limits.intervals_per_call), absl::StrCat(count));
  }
  for (const Interval& interval : request.intervals) {
    if (interval.length() > limits.longest_interval) {
      return RequestBeyondLimit("intervals", "max_interval",
                                interlock::FormatDuration(limits.longest_interval),
                                absl::StrCat(interlock::FormatDuration(interval.length()), " (",
                                             interval.ToString(), ")"));
    }
  }
  return absl::OkStatus();
}

std::string FingerprintOf(const ReserveRequest& request) {
  std::vector<std::string> texts;
  for (auto& [name, value] : FieldsOf(request)) {
    if (value.empty()) continue;
    texts.push_back(name);
    texts.push_back(value);
  }
  return JoinTexts(texts);
}

std::vector<std::string> Differences(const std::string& kept, const std::string& now) {
  std::vector<std::string> differences;
  if (kept == now) return differences;
  const std::vector<std::string> then_texts = SplitTexts(kept);
  const std::vector<std::string> now_texts = SplitTexts(now);
  for (const auto& [name, unused] : FieldsOf(ReserveRequest())) {
    const std::string then_value = ValueOf(then_texts, name);
    const std::string now_value = ValueOf(now_texts, name);
    if (then_value == now_value) continue;
    differences.push_back(absl::StrCat(name, " was '", Readable(name, then_value), "', is '",
                                       Readable(name, now_value), "'"));
  }
  return differences;
}

Stored NewStored(Instant now, const Key& key, const ReserveRequest& request,
                 const audit::Caller& caller) {
  Stored stored;
  stored.key = key;
  stored.live = true;
  stored.identity = caller.identity;
  stored.request = request.request_id.empty() ? "" : FingerprintOf(request);
  Reservation& reservation = stored.reservation;
  reservation.id = IdOf(key);
  reservation.datasource = request.datasource;
  reservation.mode = request.mode;
  reservation.holder = request.holder;
  reservation.purpose = request.purpose;
  reservation.reason = caller.reason;
  reservation.request_id = request.request_id;
  reservation.labels = request.labels;
  reservation.token = key.token;
  reservation.created = now;
  reservation.deadline = now + request.ttl;
  reservation.ttl = request.ttl;
  reservation.calendar = request.partitions;
  if (!request.link.empty()) reservation.links.push_back(request.link);
  return stored;
}

bool IsAtOrBelow(const std::string& holder, const std::string& name) {
  if (name.empty() || holder == name) return true;
  return absl::StartsWith(holder, name) && holder[name.size()] == '/';
}

std::string DescribeGrant(const Reservation& reservation, const std::vector<Held>& skipped) {
  audit::JsonObject json;
  json.Number("token", reservation.token)
      .Text("holder", reservation.holder)
      .Text("mode", NameOf(reservation.mode))
      .Texts("intervals", Printed(reservation.intervals))
      .Text("deadline", reservation.deadline.ToString());
  if (!reservation.purpose.empty()) json.Text("purpose", reservation.purpose);
  std::vector<std::string> left_out;
  left_out.reserve(skipped.size());
  for (const Held& held : skipped) {
    left_out.push_back(absl::StrCat(held.interval.ToString(), " ", held.reservation_id));
  }
  if (!left_out.empty()) json.Texts("skipped", left_out);
  return json.ToString();
}

}  // namespace interlock::lease
