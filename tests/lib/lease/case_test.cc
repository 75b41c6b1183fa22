// Field cases: what has gone wrong elsewhere, each by its row.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/lib/lease/lease_fixture.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::lease {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kTick = absl::Milliseconds(1);

// The same table in a file that outlives the process that has it open.
class Cases : public LeaseTest {
 protected:
  Cases() { Restart(); }
  void Restart() {
    store_.reset();
    store::SqliteOptions options;
    options.path = folder_.File("store.db");
    options.schemas = {audit::AuditSchema(), LeaseSchema()};
    options.durable = false;
    options.on_clock_jump = [this](absl::Duration by) { jumps_.push_back(by); };
    auto store = store::OpenSqlite(std::move(options), clock_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = std::move(*store);
  }

  TemporaryFolder folder_;
  std::vector<absl::Duration> jumps_;
};

// Two datasources with the same time know nothing of each other.
TEST_F(Cases, Case095EqualIntervalsOfTwoDatasourcesAreApart) {
  const Reservation wiki = Granted("a", {Hour(1)});
  ReserveRequest request = Request("b", {Hour(1)});
  request.datasource = "clicks";
  const Reservation clicks = Granted(request);
  ASSERT_TRUE(Release(wiki).ok());
  EXPECT_EQ(Get(clicks).state, State::kActive);
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "HELD");
  EXPECT_TRUE(Reserve("c", {Hour(1)}).ok());
}

// The lease's end must not free the time of work that lives.
TEST_F(Cases, Case094ALeaseThatEndsOverLivingWorkBlocks) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Seconds(60);
  const Reservation granted = Granted(request);
  ASSERT_TRUE(Pin(granted, "task-1", Hour(1)).ok());
  clock_.Advance(absl::Hours(5));
  Restart();
  EXPECT_EQ(Get(granted).state, State::kOrphaned);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
  ASSERT_TRUE(Unpin("task-1").ok());
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// A stalled holder comes back with its old token after another was granted.
TEST_F(Cases, Case105AStalledHoldersTokenIsStale) {
  const Reservation a = Granted("a", {Hours(1, 3)});
  clock_.Advance(absl::Seconds(90) + absl::Minutes(10));
  Restart();
  const Reservation b = Granted("b", {Hour(2)});
  EXPECT_GT(b.token, a.token);
  const absl::Status stale = Check(a, Hours(1, 3));
  EXPECT_EQ(stale.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(stale), "STALE_TOKEN");
  EXPECT_EQ(MetadataOf(stale).at("later"), b.id);
  EXPECT_EQ(MetadataOf(stale).at("later_holder"), "b");
  EXPECT_EQ(ReasonOf(Pin(a, "w1", Hour(1))), "STALE_TOKEN");
  Reservation with_a_token = b;
  with_a_token.token = a.token;
  EXPECT_EQ(ReasonOf(Check(with_a_token, Hour(2))), "STALE_TOKEN");
  EXPECT_TRUE(Check(b, Hour(2)).ok());
}

TEST_F(Cases, Case105TokensRiseAcrossRestartsAndNeverComeAgain) {
  int64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) {
      const Reservation granted = Granted("a", {Hour(1)});
      EXPECT_GT(granted.token, last);
      last = granted.token;
      ASSERT_TRUE(Release(granted).ok());
    }
    Restart();
  }
}

TEST_F(Cases, Case105TokensRiseAcrossARestore) {
  ASSERT_TRUE(store::BackupSqlite(folder_.File("store.db"), folder_.File("backup.db")).ok());
  const Reservation lost = Granted("a", {Hour(1)});
  ReserveRequest other = Request("a", {Hour(1)});
  other.datasource = "clicks";
  const Reservation other_lost = Granted(other);
  const std::string incarnation = store_->incarnation();
  store_.reset();
  std::filesystem::remove(folder_.File("store.db"));
  ASSERT_TRUE(store::RestoreSqlite(folder_.File("backup.db"), folder_.File("store.db")).ok());
  clock_.Advance(absl::Seconds(1));
  Restart();
  EXPECT_NE(store_->incarnation(), incarnation);
  EXPECT_GT(Granted("b", {Hour(1)}).token, lost.token);
  EXPECT_GT(Granted(other).token, other_lost.token);
  EXPECT_EQ(ReasonOf(Check(lost, Hour(1))), "UNKNOWN_RESERVATION");
}

// The wall clock is set during a lease: the lease neither ends early nor lives on.
TEST_F(Cases, Case108AStepOfTheWallClockChangesNothing) {
  for (const absl::Duration step : {-absl::Hours(1), absl::Hours(1)}) {
    const Reservation granted = Granted("a", {Hour(1)});
    clock_.Advance(absl::Minutes(5));
    clock_.StepWall(step);
    clock_.Advance(absl::Minutes(5) - kTick);
    EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD") << step;
    EXPECT_EQ(Get(granted).state, State::kActive) << step;
    clock_.Advance(kTick);
    EXPECT_EQ(Get(granted).state, State::kExpired) << step;
    ASSERT_TRUE(Release(Granted("b", {Hour(1)})).ok());
  }
  EXPECT_THAT(jumps_, SizeIs(2));
}

TEST_F(Cases, Case108ARestartUnderASteppedClockKnowsTheDowntime) {
  const Reservation granted = Granted("a", {Hour(1)});
  store_.reset();
  clock_.Advance(absl::Minutes(10) - kTick);
  clock_.StepWall(-absl::Hours(3));
  Restart();
  EXPECT_EQ(Get(granted).state, State::kActive);
  clock_.Advance(kTick);
  EXPECT_EQ(Get(granted).state, State::kExpired);
}

TEST_F(Cases, Case108ARebootWithAClockInThePastResurrectsNothing) {
  const Reservation granted = Granted("a", {Hour(1)});
  clock_.Advance(absl::Minutes(10));
  const Reservation next = Granted("b", {Hour(1)});
  store_.reset();
  clock_.Reboot(absl::Minutes(1));
  clock_.StepWall(-absl::Hours(8));
  Restart();
  EXPECT_EQ(Get(granted).state, State::kExpired);
  EXPECT_EQ(ReasonOf(Renew(granted).status()), "SUPERSEDED");
  EXPECT_EQ(Get(next).state, State::kActive);
  EXPECT_THAT(jumps_, SizeIs(1));
}

// A lease that was over long before this process started is free at once.
TEST_F(Cases, Case109ANewProcessWaitsForNoDeadLease) {
  Granted("a", {Hour(1)});
  store_.reset();
  clock_.Advance(absl::Minutes(20));
  Restart();
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// An ended lease is never renewed back to life, even where nobody has its time.
TEST_F(Cases, Case111RenewAfterExpiryIsFinal) {
  const Reservation granted = Granted("a", {Hour(1)});
  clock_.Advance(absl::Minutes(10));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ReasonOf(Renew(granted).status()), "EXPIRED");
  EXPECT_EQ(Get(granted).state, State::kExpired);
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// TTL means TTL: free at the deadline, not before, not later.
TEST_F(Cases, Case116ALeaseIsFreeAtItsDeadlineToTheTick) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Seconds(10);
  const Reservation granted = Granted(request);
  clock_.Advance(absl::Seconds(10) - kTick);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
  EXPECT_EQ(Get(granted).state, State::kActive);
  EXPECT_TRUE(Check(granted, Hour(1)).ok());
  clock_.Advance(kTick);
  EXPECT_EQ(Get(granted).state, State::kExpired);
  EXPECT_EQ(ReasonOf(Check(granted, Hour(1))), "EXPIRED");
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// One counter per datasource, however many intervals it has seen.
TEST_F(Cases, Case120CountersDoNotGrowWithIntervals) {
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Release(Granted("a", {Hour(i)})).ok());
  int64_t counters = 0;
  ASSERT_TRUE(store_
                  ->Read([&](store::Transaction& tx) {
                    auto rows = tx.Query("SELECT COUNT(*) FROM lease_datasource", {});
                    if (rows.ok()) counters = rows->front().Int(0);
                    return rows.status();
                  })
                  .ok());
  EXPECT_EQ(counters, 1);
}

// A client that reconnects after its lease was lost must not re-create it beside the new
// holder's.
TEST_F(Cases, Case121AReconnectedHolderDoesNotComeBackBesideTheNewOne) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.request_id = "run-1";
  const Reservation old = Granted(request);
  clock_.Advance(absl::Minutes(10));
  const Reservation fresh = Granted("b", {Hour(1)});
  EXPECT_EQ(ReasonOf(Renew(old).status()), "SUPERSEDED");
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "SUPERSEDED");
  EXPECT_EQ(ReasonOf(Release(old).status()), "SUPERSEDED");
  EXPECT_EQ(Get(fresh).state, State::kActive);
}

// The lock of a dead process: nobody waits longer than what was promised.
TEST_F(Cases, Case122ADeadHoldersTimeIsFreeWhenItsLeaseEnds) {
  Granted("dead", {Hour(1)});
  Restart();
  clock_.Advance(absl::Minutes(10));
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// "Lost" and "cannot be reached" are different codes and different reasons.
TEST_F(Cases, Case123LostIsNotUnreachable) {
  const Reservation granted = Granted("a", {Hour(1)});
  clock_.Advance(absl::Minutes(10));
  const absl::Status lost = Renew(granted).status();
  EXPECT_EQ(lost.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(lost), "EXPIRED");
  // The other one is a failure of the store: tests/lib/store, STORE_UNAVAILABLE.
  EXPECT_NE(lost.code(), absl::StatusCode::kUnavailable);
}

// Tokens have 64 bits and only grants use them up.
TEST_F(Cases, Case125ManyRefusalsAndRenewalsUseUpNoToken) {
  const Reservation first = Granted("a", {Hour(1)});
  for (int i = 0; i < 500; ++i) {
    EXPECT_FALSE(Reserve("b", {Hour(1)}).ok());
    EXPECT_TRUE(Renew(first).ok());
  }
  EXPECT_EQ(Granted("b", {Hour(2)}).token, first.token + 1);
  // Beyond what 16 and 32 bits hold it goes on as before.
  ASSERT_TRUE(Write([](store::Transaction& tx) {
                return tx.Execute("UPDATE lease_datasource SET last_token = :t", {int64_t{1} << 40})
                    .status();
              }).ok());
  EXPECT_EQ(Granted("b", {Hour(3)}).token, (int64_t{1} << 40) + 1);
}

// What admits and what is shown are the same rows: a reservation that is listed is one
// that refuses, and the other way round.
TEST_F(Cases, Case104WhatIsListedIsWhatRefuses) {
  for (int i = 0; i < 6; ++i) Granted(absl::StrCat("h", i), {Hour(i)});
  clock_.Advance(absl::Minutes(5));
  for (int i = 6; i < 12; ++i) Granted(absl::StrCat("h", i), {Hour(i)});
  clock_.Advance(absl::Minutes(5));
  std::vector<bool> listed(12, false);
  ASSERT_TRUE(store_
                  ->Read([&](store::Transaction& tx) {
                    auto found = lease::List(tx, {}, {});
                    if (!found.ok()) return found.status();
                    for (const Reservation& r : found->reservations) {
                      for (int i = 0; i < 12; ++i) {
                        if (r.intervals[0] == Hour(i)) listed[i] = true;
                      }
                    }
                    return absl::OkStatus();
                  })
                  .ok());
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(listed[i], !Reserve("x", {Hour(i)}).ok()) << i;
  }
}

// A holder that is deleted never calls Release: its lease ends by itself.
TEST_F(Cases, Case099AHolderThatNeverReleasesLosesItsTimeAtTheDeadline) {
  Granted("workflow", {Hour(1)});
  clock_.Advance(absl::Minutes(10));
  EXPECT_TRUE(Reserve("next", {Hour(1)}).ok());
}

// The connection broke between the insert and the reply: the row is known by its request
// id, expires like any other, and an admin can end it, with a trace.
TEST_F(Cases, Case102ARowWhoseReplyWasLostIsFoundExpiresAndCanBeForced) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.request_id = "run-1";
  const Reservation lost = Granted(request);
  Restart();
  const auto again = Reserve(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->reservation.id, lost.id);
  ASSERT_TRUE(ForceRelease(lost).ok());
  EXPECT_EQ(Audit().front().event.method, "ForceReleaseReservation");
  EXPECT_EQ(Audit().front().event.caller.reason, "because");
  EXPECT_EQ(Get(lost).forced_by, "tester");
  EXPECT_EQ(Get(lost).force_reason, "because");
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// What a cancelled run held is listed with its holder and age, and ends without a setting
// that somebody has to find.
TEST_F(Cases, Case103WhatACancelledRunHoldsIsListedWithItsAgeAndEnds) {
  const Reservation cancelled = Granted("run-7", {Hour(1)});
  clock_.Advance(absl::Minutes(4));
  const auto listed = In<Listed>([](store::Transaction& tx) {
    return lease::List(tx, {"wiki", {}, "", {}}, {});
  });
  ASSERT_THAT(listed->reservations, SizeIs(1));
  EXPECT_EQ(listed->reservations[0].holder, "run-7");
  EXPECT_EQ(store_->Now() - listed->reservations[0].created, absl::Minutes(4));
  clock_.Advance(absl::Minutes(6));
  const auto later = In<Listed>([](store::Transaction& tx) {
    return lease::List(tx, {"wiki", {}, "", {}}, {});
  });
  EXPECT_THAT(later->reservations, IsEmpty());
  EXPECT_EQ(Get(cancelled).state, State::kExpired);
}

// After an expiry, when the holder may not have noticed yet, nobody is granted its time for
// a while; after a release there is nothing to wait for.
TEST_F(Cases, Case117AfterAnExpiryNotAfterAReleaseANewGrantWaits) {
  Limits limits;
  limits.lock_delay = absl::Seconds(15);
  const auto expired = Reserve(Request("a", {Hour(1)}), limits);
  const auto released = Reserve(Request("a", {Hour(2)}), limits);
  ASSERT_TRUE(Release(released->reservation).ok());
  EXPECT_TRUE(Reserve("b", {Hour(2)}).ok());
  clock_.Advance(absl::Minutes(10));
  // To the tick, also where the expiry was noted, after a restart, and for the same holder.
  Restart();
  ASSERT_TRUE(Write([](store::Transaction& tx) { return NoteExpiries(tx).status(); }).ok());
  EXPECT_EQ(Get(expired->reservation).state, State::kExpired);
  EXPECT_EQ(Get(expired->reservation).free, store_->Now() + absl::Seconds(15));
  const auto refused = Reserve("a", {Hour(1)});
  EXPECT_EQ(ReasonOf(refused.status()), "LOCK_DELAY");
  EXPECT_EQ(RetryAfterOf(refused.status()), std::chrono::seconds(15));
  clock_.Advance(absl::Seconds(15) - kTick);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "LOCK_DELAY");
  clock_.Advance(kTick);
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

// A renewal that comes late says how much is left of the lease, and what it makes of it.
TEST_F(Cases, Case118ARenewalSaysUntilWhenItHolds) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Seconds(30);
  const Reservation granted = Granted(request);
  clock_.Advance(absl::Seconds(28));
  EXPECT_EQ(Get(granted).deadline - store_->Now(), absl::Seconds(2));
  const auto renewed = In<Reservation>([&](store::Transaction& tx) {
    return lease::Renew(tx, granted.id, granted.token, std::nullopt, caller_);
  });
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  // As long as it was granted for, not as some default says.
  EXPECT_EQ(renewed->deadline, store_->Now() + absl::Seconds(30));
  EXPECT_EQ(renewed->ttl, absl::Seconds(30));
}

// A stream that writes whole days holds the day: an hourly backfill of it is refused, and
// told why.
TEST_F(Cases, Case029AFinerReplaceBesideAStreamsCoarserAppendIsRefused) {
  ReserveRequest append = Request("stream", {Hours(0, 24)});
  append.mode = Mode::kAppend;
  append.partitions = Granularity::FromName("DAY").value();
  Granted(append);
  ReserveRequest replace = Request("batch", {Hour(3)});
  replace.partitions = Granularity::FromName("HOUR").value();
  EXPECT_EQ(ReasonOf(Reserve(replace).status()), "CROSSING_GRANULARITY");
  replace.partitions = Granularity::FromName("DAY").value();
  replace.intervals = {Hours(0, 24)};
  EXPECT_EQ(ReasonOf(Reserve(replace).status()), "HELD");
}

}  // namespace
}  // namespace interlock::lease
