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

TEST_F(ReserveInterval, AnIdIsSpelledInOneWay) {
  const Reservation granted = Granted("a", {Hour(1)});
  ASSERT_EQ(granted.id, "r1-1");
  for (const char* id : {"r1-01", "r+1-1", "r1-+1", "r 1-1", "r1-1 ", "w1-01"}) {
    Reservation other = granted;
    other.id = id;
    EXPECT_EQ(ReasonOf(Renew(other).status()), "UNKNOWN_RESERVATION") << id;
  }
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
