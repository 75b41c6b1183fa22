#include "lib/lease/request.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/audit/json_object.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/text_list.h"
#include "lib/time/duration.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {
namespace {

absl::Status Faults(const ReserveRequest& request) {
  absl::Status status = InvalidReservation();
  if (request.datasource.empty()) AddFault(status, "/datasource", "it is empty", "a datasource");
  if (request.holder.empty()) AddFault(status, "/holder", "it is empty", "a name");
  if (request.intervals.empty()) AddFault(status, "/intervals", "there are none", "one or more");
  for (size_t i = 0; i < request.intervals.size(); ++i) {
    if (!request.intervals[i].empty()) continue;
    AddFault(status, absl::StrCat("/intervals/", i),
             absl::StrCat(request.intervals[i].ToString(), " is empty"), "an end after the start");
  }
  return FaultsOf(status).empty() ? absl::OkStatus() : status;
}

std::string LabelText(const Labels& labels) {
  return absl::StrJoin(labels, ", ", absl::PairFormatter("="));
}

// Printing instants costs more than the rest of a grant's text: it can wait until somebody
// reads it.
std::string InMillis(const std::vector<Interval>& intervals) {
  std::string text;
  for (const Interval& interval : intervals) {
    absl::StrAppend(&text, text.empty() ? "" : ",", interval.start().millis(), "/",
                    interval.end().millis());
  }
  return text;
}

std::string PrintMillis(absl::string_view text) {
  std::vector<std::string> printed;
  for (const absl::string_view interval : absl::StrSplit(text, ',')) {
    std::vector<std::string> ends;
    for (const absl::string_view end : absl::StrSplit(interval, '/')) {
      int64_t millis = 0;
      if (!absl::SimpleAtoi(end, &millis)) return std::string(text);
      ends.push_back(Instant::FromMillis(millis).ToString());
    }
    printed.push_back(absl::StrJoin(ends, "/"));
  }
  return absl::StrJoin(printed, ", ");
}

// A field's value as people read it.
std::string Readable(const std::string& field, const std::string& value) {
  int64_t millis = 0;
  if (field == "intervals") return PrintMillis(value);
  if (field == "ttl" && absl::SimpleAtoi(value, &millis)) {
    return interlock::FormatDuration(absl::Milliseconds(millis));
  }
  return value;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields FieldsOf(const ReserveRequest& request) {
  return {{"datasource", request.datasource},
          {"intervals", InMillis(Condense(request.intervals))},
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

constexpr size_t kHeldTexts = 11;

}  // namespace

std::vector<std::string> Printed(const std::vector<Interval>& intervals) {
  std::vector<std::string> printed;
  for (const Interval& interval : intervals) printed.push_back(interval.ToString());
  return printed;
}

absl::Status CheckTtl(absl::Duration ttl, const Limits& limits) {
  if (ttl < limits.shortest_ttl) {
    return RequestBeyondLimit("shortest_ttl", interlock::FormatDuration(limits.shortest_ttl),
                              interlock::FormatDuration(ttl));
  }
  if (ttl > limits.longest_ttl) {
    return RequestBeyondLimit("longest_ttl", interlock::FormatDuration(limits.longest_ttl),
                              interlock::FormatDuration(ttl));
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const ReserveRequest& request, const Limits& limits) {
  absl::Status status = Faults(request);
  if (status.ok()) status = CheckTtl(request.ttl, limits);
  if (!status.ok()) return status;
  const int64_t count = request.intervals.size();
  if (count > limits.intervals_per_call) {
    return RequestBeyondLimit("intervals_per_call", absl::StrCat(limits.intervals_per_call),
                              absl::StrCat(count));
  }
  for (const Interval& interval : request.intervals) {
    if (interval.length() > limits.longest_interval) {
      return RequestBeyondLimit("longest_interval",
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
  return stored;
}

std::string PackHeld(const std::vector<Held>& held) {
  std::vector<std::string> texts;
  for (const Held& piece : held) {
    const std::string packed[kHeldTexts] = {absl::StrCat(piece.interval.start().millis()),
                                            absl::StrCat(piece.interval.end().millis()),
                                            piece.reservation_id,
                                            piece.holder,
                                            piece.purpose,
                                            std::string(NameOf(piece.mode)),
                                            absl::StrCat(piece.since.millis()),
                                            absl::StrCat(piece.until.millis()),
                                            piece.orphaned ? "1" : "0",
                                            piece.work_id,
                                            piece.link};
    texts.insert(texts.end(), std::begin(packed), std::end(packed));
  }
  return JoinTexts(texts);
}

std::vector<Held> UnpackHeld(const std::string& packed) {
  const std::vector<std::string> texts = SplitTexts(packed);
  const auto at = [&texts](size_t i) { return store::Value(texts[i]).Int(); };
  std::vector<Held> held;
  for (size_t i = 0; i + kHeldTexts <= texts.size(); i += kHeldTexts) {
    Held piece;
    piece.interval = Interval::Of(Instant::FromMillis(at(i)), Instant::FromMillis(at(i + 1)))
                         .value_or(Interval());
    piece.reservation_id = texts[i + 2];
    piece.holder = texts[i + 3];
    piece.purpose = texts[i + 4];
    piece.mode = ModeOf(texts[i + 5]);
    piece.since = Instant::FromMillis(at(i + 6));
    piece.until = Instant::FromMillis(at(i + 7));
    piece.orphaned = texts[i + 8] == "1";
    piece.work_id = texts[i + 9];
    piece.link = texts[i + 10];
    held.push_back(std::move(piece));
  }
  return held;
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
  for (const Held& held : skipped) {
    left_out.push_back(absl::StrCat(held.interval.ToString(), " ", held.reservation_id));
  }
  if (!left_out.empty()) json.Texts("skipped", left_out);
  return json.ToString();
}

}  // namespace interlock::lease
