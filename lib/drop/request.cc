#include "lib/drop/request.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/drop/codec.h"
#include "lib/drop/drop_errors.h"
#include "lib/druid/task_id.h"
#include "lib/time/interval_set.h"

namespace interlock::drop {
namespace {

constexpr int64_t kDayMillis = 86'400'000;
// Druid's kill compares bounds as text, which goes only within years of four digits.
const Instant kYear0 = Instant::FromMillis(-62'167'219'200'000);
const Instant kYear10000 = Instant::FromMillis(253'402'300'800'000);

absl::Status CheckIntervals(const DropRequest& request) {
  if (request.intervals.empty()) return NoIntervals();
  const int64_t count = static_cast<int64_t>(request.intervals.size());
  if (count > kMaxIntervals) {
    return LimitExceeded("intervals", count, kMaxIntervals, "make several drops of it");
  }
  for (const Interval& interval : request.intervals) {
    if (interval.start() < kYear0 || interval.end() > kYear10000) return NotKillable(interval);
  }
  const int64_t days = (TotalMillis(request.intervals) + kDayMillis - 1) / kDayMillis;
  if (days > kMaxSpanDays) return SpanTooLong(request.intervals.front(), days, kMaxSpanDays);
  return absl::OkStatus();
}

absl::Status CheckTimes(const DropRequest& request, const Options& options) {
  if (*request.window < options.min_window) {
    return WindowTooShort(*request.window, options.min_window);
  }
  if (*request.window > options.max_window) {
    return WindowTooLong(*request.window, options.max_window);
  }
  const absl::Duration least = options.FloorOf(request.datasource);
  return *request.floor < least ? FloorTooLow(*request.floor, least) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<DropRequest> Checked(DropRequest request, const Options& options) {
  absl::Status status = druid::ValidateDruidName("datasource", request.datasource);
  if (!status.ok()) return status;
  request.intervals = Condense(std::move(request.intervals));
  if (!request.window) request.window = options.default_window;
  if (!request.floor) request.floor = options.FloorOf(request.datasource);
  request.approval = request.approval || options.require_approval;
  status = CheckIntervals(request);
  if (status.ok()) status = CheckTimes(request, options);
  if (!status.ok()) return status;
  return request;
}

absl::Status CheckCaller(const audit::Caller& caller) {
  const int64_t bytes = static_cast<int64_t>(caller.reason.size());
  if (bytes > kMaxReasonBytes) {
    return LimitExceeded("bytes of reason", bytes, kMaxReasonBytes, "say it shorter");
  }
  const std::string& id = caller.request_id;
  const bool printable = std::all_of(id.begin(), id.end(), absl::ascii_isprint);
  if (id.size() > kMaxRequestIdBytes || !printable) return RequestIdInvalid(id);
  return absl::OkStatus();
}

std::string Fingerprint(const DropRequest& request, const std::string& reason) {
  const auto millis = [](const std::optional<absl::Duration>& length) {
    return length ? absl::StrCat(absl::ToInt64Milliseconds(*length)) : std::string();
  };
  return EncodeTexts(
      {request.datasource, EncodeIntervals(request.intervals), request.holder,
       EncodeLabels(request.labels), millis(request.window), millis(request.floor),
       absl::StrCat(request.approval, request.accept_kill_duty, request.accept_partial_cover),
       request.plan_revision, request.reservation_id, reason});
}

}  // namespace interlock::drop
