#include "gmock/gmock.h"
#include "lib/lease/live_counts.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ReserveInterval = LeaseTest;

TEST_F(ReserveInterval, GrantsWhatIsFree) {
  ReserveRequest request = Request("airflow", {Hour(3), Hour(5)});
  request.purpose = "nightly load";
  request.labels = {{"dag", "wiki_daily"}, {"run", "7"}};
  const auto grant = Reserve(request);
  ASSERT_TRUE(grant.ok()) << grant.status();
  const Reservation read = Get(grant->reservation);
  EXPECT_EQ(read.datasource, "wiki");
  EXPECT_THAT(read.intervals, ElementsAre(Hour(3), Hour(5)));
  EXPECT_EQ(read.state, State::kActive);
  EXPECT_EQ(read.mode, Mode::kReplace);
  EXPECT_EQ(read.holder, "airflow");
  EXPECT_EQ(read.purpose, "nightly load");
  EXPECT_EQ(read.labels, request.labels);
  EXPECT_EQ(read.reason, "because");
  EXPECT_EQ(read.created, store_->Now());
  EXPECT_EQ(read.deadline, store_->Now() + absl::Minutes(10));
  EXPECT_EQ(read.token, grant->reservation.token);
  EXPECT_FALSE(grant->repeated);
  EXPECT_THAT(grant->skipped, IsEmpty());
}

TEST_F(ReserveInterval, RefusesOverlapAndNamesTheHolder) {
  ReserveRequest first = Request("airflow", {Hours(3, 6)});
  first.purpose = "nightly load";
  const Reservation held = Granted(first);
  const auto refused = Reserve("argo", {Hours(5, 8)});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  const Metadata details = MetadataOf(refused.status());
  EXPECT_EQ(details.at("holder"), "airflow");
  EXPECT_EQ(details.at("purpose"), "nightly load");
  EXPECT_EQ(details.at("reservation"), held.id);
  EXPECT_EQ(details.at("interval"), Hour(5).ToString());
  EXPECT_EQ(details.at("since"), held.created.ToString());
  EXPECT_EQ(details.at("until"), held.deadline.ToString());
  EXPECT_EQ(RetryAfterOf(refused.status()), std::chrono::minutes(10));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("wiki " + Hour(5).ToString() + " is held by airflow (nightly load)"));
}

TEST_F(ReserveInterval, NamesEveryHolderInTheWay) {
  Granted("a", {Hour(1)});
  Granted("b", {Hour(3)});
  Granted("c", {Hour(9)});
  const auto refused = Reserve("d", {Hours(0, 5)});
  EXPECT_THAT(BlockersOf(refused.status()),
              ElementsAre(::testing::Field(&Blocker::subject, "wiki/" + Hour(1).ToString()),
                          ::testing::Field(&Blocker::subject, "wiki/" + Hour(3).ToString())));
}

TEST_F(ReserveInterval, TakesWhatTouchesAndRefusesEveryWayOfOverlap) {
  Granted("a", {Hours(4, 8)});
  for (const Interval& touching : {Hours(2, 4), Hours(8, 9)}) {
    EXPECT_TRUE(Reserve("b", {touching}).ok()) << touching;
  }
  for (const Interval& overlapping : {Hours(4, 8), Hours(5, 6), Hours(4, 5), Hours(7, 8),
                                      Hours(3, 9), Hours(7, 9), Hours(3, 5)}) {
    EXPECT_EQ(ReasonOf(Reserve("c", {overlapping}).status()), "HELD") << overlapping;
  }
}

TEST_F(ReserveInterval, IsAllOrNothing) {
  Granted("a", {Hour(5)});
  EXPECT_FALSE(Reserve("b", {Hour(1), Hour(5)}).ok());
  EXPECT_TRUE(Reserve("c", {Hour(1)}).ok());
}

TEST_F(ReserveInterval, KeepsDatasourcesApart) {
  Granted("a", {Hour(5)});
  ReserveRequest other = Request("b", {Hour(5)});
  other.datasource = "clicks";
  EXPECT_TRUE(Reserve(other).ok());
}

TEST_F(ReserveInterval, ReplaceIsExclusiveAndAppendsShare) {
  ReserveRequest append = Request("stream", {Hours(4, 6)});
  append.mode = Mode::kAppend;
  Granted(append);
  append.holder = "stream2";
  append.intervals = {Hours(5, 7)};
  Granted(append);
  const auto replace = Reserve("batch", {Hour(6)});
  EXPECT_EQ(ReasonOf(replace.status()), "HELD");
  EXPECT_EQ(MetadataOf(replace.status()).at("mode"), "APPEND");
  EXPECT_EQ(MetadataOf(replace.status()).at("holder"), "stream2");
  Granted("batch", {Hour(7)});
  append.intervals = {Hour(7)};
  EXPECT_EQ(ReasonOf(Reserve(append).status()), "HELD");
}

TEST_F(ReserveInterval, SkipsWhatIsHeldAndReportsIt) {
  const Reservation held = Granted("a", {Hours(3, 4)});
  ReserveRequest request = Request("b", {Hours(0, 6)});
  request.skip_held = true;
  const auto grant = Reserve(request);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_THAT(grant->reservation.intervals, ElementsAre(Hours(0, 3), Hours(4, 6)));
  ASSERT_THAT(grant->skipped, SizeIs(1));
  EXPECT_EQ(grant->skipped[0].interval, Hour(3));
  EXPECT_EQ(grant->skipped[0].holder, "a");
  EXPECT_EQ(grant->skipped[0].until, held.deadline);
  EXPECT_EQ(ReasonOf(Reserve(Request("c", {Hour(5)})).status()), "HELD");
}

TEST_F(ReserveInterval, SkipsWholePartitions) {
  Granted("a", {Hours(25, 26)});  // an hour of the second day
  ReserveRequest request = Request("b", {Hours(0, 72)});
  request.skip_held = true;
  request.partitions = Granularity::FromName("DAY").value();
  const auto grant = Reserve(request);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_THAT(grant->reservation.intervals, ElementsAre(Hours(0, 24), Hours(48, 72)));
  // What was asked is granted or skipped: nothing falls between.
  ASSERT_THAT(grant->skipped, SizeIs(1));
  EXPECT_EQ(grant->skipped[0].interval, Hours(24, 48));
  EXPECT_EQ(grant->skipped[0].holder, "a");
}

TEST_F(ReserveInterval, RefusesWhereNothingIsLeftToSkipTo) {
  Granted("a", {Hours(3, 6)});
  ReserveRequest request = Request("b", {Hours(4, 5)});
  request.skip_held = true;
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "HELD");
}

TEST_F(ReserveInterval, GivesTheSameAnswerToTheSameRequest) {
  Granted("a", {Hour(3)});
  ReserveRequest request = Request("b", {Hours(2, 6)});
  request.request_id = "run-1";
  request.skip_held = true;
  const auto first = Reserve(request);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Reserve(request);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->repeated);
  EXPECT_EQ(second->reservation.id, first->reservation.id);
  EXPECT_EQ(second->reservation.token, first->reservation.token);
  EXPECT_THAT(second->reservation.intervals, ElementsAre(Hour(2), Hours(4, 6)));
  ASSERT_THAT(second->skipped, SizeIs(1));
  EXPECT_EQ(second->skipped[0].interval, Hour(3));
  EXPECT_EQ(second->skipped[0].holder, "a");
  // Another holder's run-1 is another request.
  request.holder = "c";
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "HELD");
}

TEST_F(ReserveInterval, RefusesARequestIdWithAnotherBodyAndSaysWhatDiffers) {
  ReserveRequest request = Request("b", {Hour(2)});
  request.request_id = "run-1";
  Granted(request);
  request.intervals = {Hour(4)};
  request.ttl = absl::Minutes(20);
  const auto refused = Reserve(request);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(refused.status()), "REQUEST_ID_REUSED");
  const std::string differs = MetadataOf(refused.status()).at("differs");
  EXPECT_EQ(differs, "intervals was '" + Hour(2).ToString() + "', is '" + Hour(4).ToString() +
                         "'; ttl was '10m', is '20m'");
}

TEST_F(ReserveInterval, ARequestIdNeverGrantsTwiceWithinADayOfItsEnd) {
  ReserveRequest request = Request("b", {Hour(2)});
  request.request_id = "run-1";
  const Reservation first = Granted(request);
  ASSERT_TRUE(Release(first).ok());
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "RELEASED");
  clock_.Advance(Limits().request_id_kept);
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "RELEASED");
  clock_.Advance(absl::Milliseconds(1));
  const auto again = Reserve(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT(again->reservation.token, first.token);
  EXPECT_FALSE(again->repeated);
}

TEST_F(ReserveInterval, JoinsOverlappingAndTouchingIntervalsOfOneRequest) {
  EXPECT_THAT(Granted("a", {Hours(4, 6), Hours(2, 3), Hours(5, 8), Hour(3)}).intervals,
              ElementsAre(Hours(2, 8)));
}

TEST_F(ReserveInterval, NamesEveryFaultOfARequest) {
  ReserveRequest request = Request("", {Hour(1), Hours(2, 2)});
  request.datasource = "";
  const auto refused = Reserve(request);
  EXPECT_EQ(ReasonOf(refused.status()), "INVALID_RESERVATION");
  std::vector<std::string> pointers;
  for (const Fault& fault : FaultsOf(refused.status())) pointers.push_back(fault.pointer);
  EXPECT_THAT(pointers, ElementsAre("/datasource", "/holder", "/intervals/1"));
  EXPECT_THAT(Audit(), IsEmpty());
  request = Request("a", {Hour(1)});
  request.labels[""] = "nameless";
  EXPECT_EQ(FaultsOf(Reserve(request).status()).front().pointer, "/labels");
}

TEST_F(ReserveInterval, AFaultOfALimitIsSaidOnceWithTheNameThatSetsIt) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Hours(25);
  const absl::Status refused = Reserve(request).status();
  EXPECT_EQ(std::string(refused.message()),
            "/ttl: it is 1d1h; at most 1d, which is limits.max_ttl of this server");
  const Fault fault = FaultsOf(refused).front();
  EXPECT_EQ(absl::StrCat(fault.pointer, ": ", fault.found, "; ", fault.would_do),
            std::string(refused.message()));
}

TEST_F(ReserveInterval, AnIdIsSpelledInOneWay) {
  const Reservation granted = Granted("a", {Hour(1)});
  ASSERT_EQ(granted.id, "r1-1");
  for (const char* id : {"r1-01", "r+1-1", "r1-+1", "r 1-1", "r1-1 ", "w1-01"}) {
    Reservation other = granted;
    other.id = id;
    EXPECT_EQ(ReasonOf(Renew(other).status()), "UNKNOWN_RESERVATION") << id;
  }
}

TEST_F(ReserveInterval, APlanAnswersARequestIdAsAGrantWould) {
  const auto plan = [&](const ReserveRequest& request) {
    return In<Grant>([&](store::Transaction& tx) { return Plan(tx, request, {}); });
  };
  ReserveRequest request = Request("b", {Hour(2)});
  request.request_id = "run-1";
  EXPECT_TRUE(plan(request)->reservation.id.empty());
  const Reservation first = Granted(request);
  EXPECT_EQ(plan(request)->reservation.id, first.id);
  EXPECT_TRUE(plan(request)->repeated);
  ReserveRequest other = request;
  other.intervals = {Hour(3)};
  EXPECT_EQ(ReasonOf(plan(other).status()), "REQUEST_ID_REUSED");
  ASSERT_TRUE(Release(first).ok());
  EXPECT_EQ(ReasonOf(plan(request).status()), "RELEASED");
  clock_.Advance(absl::Hours(25));
  EXPECT_TRUE(plan(request).ok());
  EXPECT_TRUE(plan(request)->reservation.id.empty());
}

TEST_F(ReserveInterval, EternityIsAnIntervalLikeOthers) {
  const Interval eternity = Interval::ParseShorthand("Eternity").value();
  ReserveRequest append = Request("a", {eternity});
  append.mode = Mode::kAppend;
  const Reservation all = Granted(append);
  EXPECT_THAT(all.intervals, ElementsAre(Interval::Eternity()));
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
  EXPECT_EQ(ReasonOf(Reserve("b", {eternity}).status()), "HELD");
  ASSERT_TRUE(Release(all).ok());
  EXPECT_TRUE(Reserve("b", {eternity}).ok());
}

TEST_F(ReserveInterval, NamesTheLimitThatWasReached) {
  Limits limits;
  limits.intervals_per_call = 2;
  limits.longest_interval = absl::Hours(4);
  const auto limit_of = [&](const ReserveRequest& request) {
    const auto refused = Reserve(request, limits);
    EXPECT_EQ(ReasonOf(refused.status()), "LIMIT_EXCEEDED") << refused.status();
    return MetadataOf(refused.status())["limit"];
  };
  EXPECT_EQ(limit_of(Request("a", {Hour(1), Hour(3), Hour(5)})), "max_intervals_per_call");
  EXPECT_EQ(limit_of(Request("a", {Hours(1, 6)})), "max_interval");
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Milliseconds(999);
  EXPECT_EQ(limit_of(request), "min_ttl");
  request.ttl = absl::Hours(25);
  EXPECT_EQ(limit_of(request), "max_ttl");
  request.ttl = absl::Minutes(1);
  request.wait = absl::Hours(2);
  EXPECT_EQ(limit_of(request), "max_wait");
}

TEST_F(ReserveInterval, APlanIsRefusedByTheLimitThatWouldRefuseTheGrant) {
  Limits limits;
  limits.live_per_holder = 1;
  caller_.identity = "a";
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Minutes(1);
  ASSERT_TRUE(Reserve(request, limits).ok());
  const auto room = [&](const std::string& identity) {
    return store_->Read([&](store::Transaction& tx) {
      return CheckRoom(tx, Request("a", {Hour(2)}), identity, limits);
    });
  };
  EXPECT_EQ(MetadataOf(room("a"))["limit"], "max_reservations_per_holder");
  EXPECT_TRUE(room("b").ok());
  clock_.Advance(absl::Minutes(1));
  EXPECT_TRUE(room("a").ok()) << "it has expired";
}

// There are more of them than one look at the table takes.
TEST_F(ReserveInterval, ALiveAppendBehindManyThatExpiredIsSeen) {
  ReserveRequest append = Request("live", {Hours(0, 24)});
  append.mode = Mode::kAppend;
  append.ttl = absl::Hours(1);
  Granted(append);
  append.holder = "expired";
  append.ttl = absl::Minutes(1);
  for (int call = 0; call < 3; ++call) {
    append.intervals.clear();
    for (int second = 0; second < 700; ++second) {
      const Instant start = Hour(1).start() + absl::Seconds(2 * second + 1400 * call);
      append.intervals.push_back(Interval::Between(start, start + absl::Seconds(1)));
    }
    Granted(append);
  }
  clock_.Advance(absl::Minutes(2));
  const auto refused = Reserve("b", {Hours(0, 24)});
  ASSERT_EQ(ReasonOf(refused.status()), "HELD") << refused.status();
  EXPECT_EQ(MetadataOf(refused.status())["holder"], "live");
}

TEST_F(ReserveInterval, LimitsLiveReservationsPerHolderAndPerDatasource) {
  Limits limits;
  limits.live_per_holder = 2;
  limits.live_per_datasource = 3;
  caller_.identity = "a";
  EXPECT_TRUE(Reserve(Request("a", {Hour(1)}), limits).ok());
  const auto second = Reserve(Request("a", {Hour(2)}), limits);
  EXPECT_TRUE(second.ok());
  const auto third = Reserve(Request("a", {Hour(3)}), limits);
  EXPECT_EQ(third.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(MetadataOf(third.status())["limit"], "max_reservations_per_holder");
  EXPECT_THAT(std::string(third.status().message()),
              HasSubstr("a in wiki has 2 live reservations already, which is "
                        "limits.max_reservations_per_holder"));
  caller_.identity = "b";
  EXPECT_TRUE(Reserve(Request("b", {Hour(3)}), limits).ok());
  EXPECT_EQ(MetadataOf(Reserve(Request("b", {Hour(4)}), limits).status())["limit"],
            "max_reservations_per_datasource");
  // What is released or has expired does not count.
  EXPECT_TRUE(Release(second->reservation).ok());
  caller_.identity = "a";
  EXPECT_TRUE(Reserve(Request("a", {Hour(4)}), limits).ok());
  clock_.Advance(absl::Minutes(10));
  EXPECT_TRUE(Reserve(Request("a", {Hour(5)}), limits).ok());
}

TEST_F(ReserveInterval, ANameBelowOnesOwnEvadesNoLimit) {
  Limits limits;
  limits.live_per_holder = 2;
  caller_.identity = "a";
  const auto first = Reserve(Request("a/one", {Hour(1)}), limits);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(Reserve(Request("a/two", {Hour(2)}), limits).ok());
  EXPECT_EQ(ReasonOf(Reserve(Request("a/three", {Hour(3)}), limits).status()), "LIMIT_EXCEEDED");
  ASSERT_TRUE(Release(first->reservation).ok());
  EXPECT_TRUE(Reserve(Request("a/three", {Hour(3)}), limits).ok());
  // Each datasource is counted by itself.
  ReserveRequest elsewhere = Request("a", {Hour(1)});
  elsewhere.datasource = "clicks";
  EXPECT_TRUE(Reserve(elsewhere, limits).ok());
}

TEST_F(ReserveInterval, ARefusalCostsNoToken) {
  const Reservation first = Granted("a", {Hour(1)});
  EXPECT_FALSE(Reserve("b", {Hour(1)}).ok());
  // Also where the transaction goes on after the refusal.
  ASSERT_TRUE(Write([&](store::Transaction& tx) {
                EXPECT_FALSE(lease::Reserve(tx, Request("b", {Hour(1)}), caller_).ok());
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(Granted("b", {Hour(2)}).token, first.token + 1);
}

TEST_F(ReserveInterval, LeavesAnAuditEventInTheSameTransaction) {
  const Reservation granted = Granted("a", {Hour(1)});
  ASSERT_THAT(Audit(), SizeIs(1));
  const audit::RecordedEvent event = Audit()[0];
  EXPECT_EQ(event.event.method, "ReserveInterval");
  EXPECT_EQ(event.event.subject, granted.id);
  EXPECT_EQ(event.event.datasource, "wiki");
  EXPECT_EQ(event.event.caller.identity, "tester");
  EXPECT_EQ(event.event.caller.request_id, "call-1");
  EXPECT_EQ(event.event.caller.reason, "because");
  EXPECT_EQ(event.at, store_->Now());
  EXPECT_THAT(event.event.after, HasSubstr("\"intervals\":[\"" + Hour(1).ToString() + "\"]"));
  // A transaction that fails later leaves neither.
  EXPECT_FALSE(Write([&](store::Transaction& tx) {
                 EXPECT_TRUE(lease::Reserve(tx, Request("a", {Hour(2)}), caller_).ok());
                 return absl::AbortedError("no");
               }).ok());
  EXPECT_THAT(Audit(), SizeIs(1));
  EXPECT_TRUE(Reserve("b", {Hour(2)}).ok());
}

TEST_F(ReserveInterval, FindHeldSaysWhatAGrantWouldBeRefusedFor) {
  Granted("a", {Hour(1)});
  Granted("b", {Hour(3)});
  std::vector<Held> held;
  ASSERT_TRUE(store_
                  ->Read([&](store::Transaction& tx) {
                    auto found = FindHeld(tx, "wiki", Mode::kReplace, {Hours(0, 9)});
                    if (found.ok()) held = *found;
                    return found.status();
                  })
                  .ok());
  ASSERT_THAT(held, SizeIs(2));
  EXPECT_EQ(held[0].holder, "a");
  EXPECT_EQ(held[1].interval, Hour(3));
}

TEST_F(ReserveInterval, AnswersAsynchronouslyOnceItIsDurable) {
  struct Answers {
    Mutex mutex;
    CondVar came;
    std::vector<absl::StatusOr<Grant>> grants;
  } answers;
  for (int i = 0; i < 2; ++i) {
    ReserveAsync(*store_, Request("a", {Hour(1)}), caller_, {}, [&](absl::StatusOr<Grant> grant) {
      MutexLock lock(answers.mutex);
      answers.grants.push_back(std::move(grant));
      answers.came.NotifyAll();
    });
  }
  MutexLock lock(answers.mutex);
  while (answers.grants.size() < 2) answers.came.Wait(lock);
  EXPECT_TRUE(answers.grants[0].ok());
  EXPECT_EQ(ReasonOf(answers.grants[1].status()), "HELD");
}

}  // namespace
}  // namespace interlock::lease
