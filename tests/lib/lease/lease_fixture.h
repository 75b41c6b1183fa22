// A lease table in a store of its own, on a clock that the test moves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/status_reason.h"
#include "tests/lib/store/databases/test_database.h"

namespace interlock::lease {

inline Interval Hours(int from, int to) {
  const Instant midnight = Instant::FromMillis(1784160000000);  // 2026-07-16
  return Interval::Of(midnight + absl::Hours(from), midnight + absl::Hours(to)).value();
}
inline Interval Hour(int hour) { return Hours(hour, hour + 1); }

class LeaseTest : public ::testing::Test {
 protected:
  LeaseTest() : store_(store::OpenChosenStore({audit::AuditSchema(), LeaseSchema()}, clock_)) {}

  // A body's result, from a transaction of its own.
  template <class T>
  absl::StatusOr<T> In(const std::function<absl::StatusOr<T>(store::Transaction&)>& body) {
    absl::StatusOr<T> result = absl::UnknownError("not run");
    const absl::Status status = store_->Write([&](store::Transaction& tx) {
      result = body(tx);
      return result.status();
    });
    if (!status.ok()) return status;
    return result;
  }
  absl::Status Write(const store::Store::Body& body) { return store_->Write(body); }

  static ReserveRequest Request(const std::string& holder, std::vector<Interval> intervals) {
    ReserveRequest request;
    request.datasource = "wiki";
    request.holder = holder;
    request.intervals = std::move(intervals);
    return request;
  }
  absl::StatusOr<Grant> Reserve(const ReserveRequest& request, const Limits& limits = {}) {
    return In<Grant>(
        [&](store::Transaction& tx) { return lease::Reserve(tx, request, caller_, limits); });
  }
  absl::StatusOr<Grant> Reserve(const std::string& holder, std::vector<Interval> intervals) {
    return Reserve(Request(holder, std::move(intervals)));
  }
  // A grant that the test takes for granted.
  Reservation Granted(const ReserveRequest& request) {
    const absl::StatusOr<Grant> grant = Reserve(request);
    EXPECT_TRUE(grant.ok()) << grant.status();
    return grant.ok() ? grant->reservation : Reservation();
  }
  Reservation Granted(const std::string& holder, std::vector<Interval> intervals) {
    return Granted(Request(holder, std::move(intervals)));
  }

  absl::StatusOr<Reservation> Renew(const Reservation& r, absl::Duration ttl = absl::Minutes(10)) {
    return In<Reservation>(
        [&](store::Transaction& tx) { return lease::Renew(tx, r.id, r.token, ttl, caller_); });
  }
  absl::StatusOr<Reservation> Release(const Reservation& r) {
    return In<Reservation>(
        [&](store::Transaction& tx) { return lease::Release(tx, r.id, r.token, caller_); });
  }
  absl::StatusOr<Reservation> ForceRelease(const Reservation& r) {
    return In<Reservation>(
        [&](store::Transaction& tx) { return lease::ForceRelease(tx, r.id, caller_); });
  }
  absl::StatusOr<Reservation> GiveBack(const Reservation& r, std::vector<Interval> intervals) {
    return In<Reservation>([&](store::Transaction& tx) {
      return ReleaseIntervals(tx, r.id, r.token, intervals, caller_);
    });
  }
  absl::Status Pin(const Reservation& r, const std::string& work_id, const Interval& interval) {
    return Write([&](store::Transaction& tx) {
      return PinWork(tx, r.id, r.token, {work_id, interval, "backfills/b1", {}});
    });
  }
  absl::Status Unpin(const std::string& work_id) {
    return Write([&](store::Transaction& tx) { return UnpinWork(tx, work_id); });
  }
  Reservation Get(const Reservation& r) {
    const auto found =
        In<Reservation>([&](store::Transaction& tx) { return lease::Get(tx, r.id); });
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : Reservation();
  }
  absl::Status Check(const Reservation& r, const Interval& interval) {
    return store_->Read([&](store::Transaction& tx) {
      return CheckToken(tx, r.id, r.token, r.datasource, interval);
    });
  }
  std::vector<audit::RecordedEvent> Audit() {
    std::vector<audit::RecordedEvent> events;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto listed = audit::List(tx, {}, {});
                      if (listed.ok()) events = listed->events;
                      return listed.status();
                    })
                    .ok());
    return events;
  }

  FakeClock clock_;
  audit::Caller caller_ = {"tester", "call-1", "because"};
  std::unique_ptr<store::Store> store_;
};

}  // namespace interlock::lease
