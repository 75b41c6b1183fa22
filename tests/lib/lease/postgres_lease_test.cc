// The lease table of servers that share a database: what they decide at the same time, and
// what the database itself refuses.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/time/reason.h"
#include "tests/lib/lease/lease_fixture.h"
#include "tests/lib/store/databases/losing_proxy.h"
#include "tests/lib/store/databases/postgres_database.h"

namespace interlock::lease {
namespace {

class PostgresLease : public ::testing::Test {
 protected:
  std::unique_ptr<store::Store> Open() {
    auto store = database_.Open({audit::AuditSchema(), LeaseSchema()}, clock_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static ReserveRequest Request(const std::string& holder, const Interval& interval) {
    ReserveRequest request;
    request.datasource = "wiki";
    request.holder = holder;
    request.intervals = {interval};
    return request;
  }
  // As the server does it: under the datasource's lock.
  absl::StatusOr<Grant> Reserve(store::Store& store, const ReserveRequest& request) {
    absl::StatusOr<Grant> grant = absl::UnknownError("not run");
    Mutex mutex;
    CondVar answered;
    bool done = false;
    ReserveAsync(store, request, {request.holder, "call", "because"}, {},
                 [&](absl::StatusOr<Grant> result) {
                   MutexLock lock(mutex);
                   grant = std::move(result);
                   done = true;
                   answered.NotifyAll();
                 });
    MutexLock lock(mutex);
    while (!done) answered.Wait(lock);
    return grant;
  }
  absl::Status Release(store::Store& store, const Reservation& r) {
    return store.Write([&](store::Transaction& tx) {
      return lease::Release(tx, r.id, r.token, {r.holder, "call", "because"}).status();
    });
  }
  // A row that no decision of ours has gone before.
  absl::Status Insert(const std::string& mode, const Interval& interval, bool live = true) {
    return one_->Write([&](store::Transaction& tx) {
      return tx
          .Execute(
              "INSERT INTO lease_interval (datasource, token, start_ms, end_ms, mode, live)"
              " VALUES (:datasource, :token, :start, :end, :mode, :live)",
              {1, ++token_, interval.start(), interval.end(), mode, live})
          .status();
    });
  }

  FakeClock clock_;
  store::PostgresDatabase database_;
  std::unique_ptr<store::Store> one_ = Open();
  std::unique_ptr<store::Store> other_ = Open();
  int64_t token_ = 1000;
};

TEST_F(PostgresLease, TheDatabaseRefusesWhatOurOwnDecisionWouldWronglyAllow) {
  ASSERT_TRUE(Insert("REPLACE", Hours(10, 12)).ok());
  const absl::Status twice = Insert("REPLACE", Hours(11, 13));
  EXPECT_EQ(ReasonOf(twice), "STORE_CONSTRAINT") << twice;
  EXPECT_EQ(ReasonOf(Insert("APPEND", Hours(11, 13))), "STORE_CONSTRAINT");
  EXPECT_TRUE(Insert("REPLACE", Hours(12, 13)).ok());
  EXPECT_TRUE(Insert("APPEND", Hours(13, 15)).ok());
  EXPECT_TRUE(Insert("APPEND", Hours(14, 16)).ok());
  EXPECT_EQ(ReasonOf(Insert("REPLACE", Hours(15, 17))), "STORE_CONSTRAINT");
  EXPECT_TRUE(Insert("REPLACE", Hours(10, 12), false).ok());
}

TEST_F(PostgresLease, ServersThatAreAskedAtOnceGrantOneTimeOnce) {
  for (int round = 0; round < 12; ++round) {
    std::atomic<int> granted{0};
    std::vector<Reservation> grants(4);
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&, i] {
        store::Store& server = i % 2 == 0 ? *one_ : *other_;
        const auto grant = Reserve(server, Request(absl::StrCat("h", i), Hours(10, 11 + i)));
        if (!grant.ok()) {
          EXPECT_EQ(ReasonOf(grant.status()), "HELD") << grant.status();
          return;
        }
        ++granted;
        grants[i] = grant->reservation;
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(granted, 1);
    for (const Reservation& grant : grants) {
      if (grant.id.empty()) continue;
      EXPECT_GT(grant.token, token_ - 1000);
      token_ = 1000 + grant.token;
      EXPECT_TRUE(Release(*other_, grant).ok());
    }
  }
}

TEST_F(PostgresLease, TheSameRequestAtTwoServersAtOnceIsOneReservation) {
  for (int round = 0; round < 8; ++round) {
    ReserveRequest request = Request("h", Hour(round));
    request.request_id = absl::StrCat("r", round);
    std::vector<int64_t> tokens(2);
    std::thread first([&] { tokens[0] = Reserve(*one_, request)->reservation.token; });
    std::thread second([&] { tokens[1] = Reserve(*other_, request)->reservation.token; });
    first.join();
    second.join();
    EXPECT_EQ(tokens[0], tokens[1]);
  }
}

// Argo: rows of a broken session stayed `held` for ever.
TEST_F(PostgresLease, Case102ASessionThatBreaksLeavesNothingThatHoldsForEver) {
  ReserveRequest request = Request("a", Hour(1));
  request.request_id = "a1";
  int runs = 0;
  absl::StatusOr<Grant> grant = absl::UnknownError("not run");
  const absl::Status status = one_->Write([&](store::Transaction& tx) {
    grant = lease::Reserve(tx, request, {"a", "call", "because"});
    if (++runs == 1) database_.CutConnections();
    return grant.status();
  });
  ASSERT_TRUE(status.ok()) << status;
  // The row that is there is the one that was told of, and it ends by itself.
  EXPECT_EQ(Reserve(*other_, request)->reservation.token, grant->reservation.token);
  EXPECT_EQ(ReasonOf(Reserve(*other_, Request("b", Hour(1))).status()), "HELD");
  clock_.Advance(absl::Minutes(10));
  EXPECT_TRUE(Reserve(*other_, Request("b", Hour(1))).ok());
}

// The server has committed the grant, and its answer to COMMIT never arrives.
class LostCommit : public PostgresLease {
 protected:
  static constexpr char kCommit[] = "INSERT INTO store_replica";

  std::unique_ptr<store::Store> OpenThroughProxy() {
    auto options = database_.Options({audit::AuditSchema(), LeaseSchema()}, clock_);
    options.connection_string = [this] { return absl::StatusOr<std::string>(proxy_.dsn()); };
    auto store = store::OpenPostgres(std::move(options), clock_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static ReserveRequest Named() {
    ReserveRequest request = Request("a", Hour(1));
    request.request_id = "a1";
    request.ttl = absl::Hours(5);  // longer than anything here takes
    return request;
  }
  void ExpectOneGrant() {
    EXPECT_EQ(database_.Ask("SELECT COUNT(*) FROM lease_reservation"), "1");
    EXPECT_EQ(database_.Ask("SELECT COUNT(*) FROM lease_interval WHERE live = 1"), "1");
    EXPECT_EQ(database_.Ask("SELECT last_token FROM lease_datasource"), "1");
    EXPECT_EQ(database_.Ask("SELECT COUNT(*) FROM audit_event WHERE method = 'ReserveInterval'"),
              "1");
  }

  store::LosingProxy proxy_{database_.dsn()};
  std::unique_ptr<store::Store> through_ = OpenThroughProxy();
};

TEST_F(LostCommit, PostgresHasItAndSoItIsFoundToBeDoneAndDoneOnce) {
  proxy_.LoseReply(kCommit, "COMMIT");
  const auto grant = Reserve(*through_, Named());
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_EQ(proxy_.lost(), 1);
  EXPECT_EQ(grant->reservation.token, 1);
  ExpectOneGrant();
  // The caller's own retry, here and at the other server, is the same grant.
  EXPECT_EQ(Reserve(*through_, Named())->reservation.token, 1);
  EXPECT_EQ(Reserve(*other_, Named())->reservation.token, 1);
  ExpectOneGrant();
}

TEST_F(LostCommit, PostgresStaysAwayAndSoItIsUnknownUntilTheRetryFindsIt) {
  proxy_.LoseReply(kCommit, "COMMIT", /*away=*/true);
  absl::StatusOr<Grant> grant = absl::UnknownError("not run");
  std::atomic<bool> answered{false};
  std::thread caller([&] {
    grant = Reserve(*through_, Named());
    answered = true;
  });
  // It asks for as long as its own clock says.
  while (!answered) {
    if (proxy_.lost() > 0) clock_.Advance(absl::Seconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  caller.join();
  EXPECT_EQ(ReasonOf(grant.status()), "STORE_COMMIT_UNKNOWN") << grant.status();
  // Nobody is told of a grant, and nobody else gets the time.
  EXPECT_EQ(ReasonOf(Reserve(*other_, Request("b", Hour(1))).status()), "HELD");
  proxy_.ComeBack();
  const auto retried = Reserve(*through_, Named());
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(retried->reservation.token, 1);
  ExpectOneGrant();
}

// etcd: a leader that was deposed while it hung went on to end leases.
TEST_F(PostgresLease, Case106AServerThatHungDecidesByWhatIsThereWhenItWakes) {
  const Reservation held = Reserve(*one_, Request("a", Hour(1)))->reservation;
  clock_.Advance(absl::Minutes(9));
  // `one_` hangs from here on; the other one renews.
  ASSERT_TRUE(
      other_
          ->Write([&](store::Transaction& tx) {
            return Renew(tx, held.id, held.token, absl::Minutes(10), {"a", "c", "x"}).status();
          })
          .ok());
  clock_.Advance(absl::Minutes(2));
  // By what it knew the lease was over.
  EXPECT_EQ(ReasonOf(Reserve(*one_, Request("b", Hour(1))).status()), "HELD");
  ASSERT_TRUE(
      one_->Write([&](store::Transaction& tx) { return Sweep(tx, tx.now(), "").status(); }).ok());
  EXPECT_TRUE(other_
                  ->Read([&](store::Transaction& tx) {
                    return CheckToken(tx, held.id, held.token, "wiki", Hour(1));
                  })
                  .ok());
}

TEST_F(PostgresLease, AStepOfTheDatabasesClockEndsNoLeaseAndLengthensNone) {
  for (const absl::Duration step : {-absl::Hours(1), absl::Hours(2)}) {
    const Reservation held = Reserve(*one_, Request("a", Hour(1)))->reservation;
    clock_.Advance(absl::Minutes(5));
    clock_.StepWall(step);
    clock_.Advance(absl::Minutes(5) - absl::Milliseconds(1));
    EXPECT_EQ(ReasonOf(Reserve(*other_, Request("b", Hour(1))).status()), "HELD") << step;
    clock_.Advance(absl::Milliseconds(1));
    const auto next = Reserve(*other_, Request("b", Hour(1)));
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_GT(next->reservation.token, held.token);
    ASSERT_TRUE(Release(*one_, next->reservation).ok());
  }
}

// With an asynchronous standby the last grants may be gone; their tokens never come again.
TEST_F(PostgresLease, TokensOfGrantsThatAFailOverLostNeverComeAgain) {
  const int64_t kept = Reserve(*one_, Request("a", Hour(1)))->reservation.token;
  const Reservation lost = Reserve(*one_, Request("a", Hour(2)))->reservation;
  one_.reset();
  other_.reset();
  database_.Ask(absl::StrCat("DELETE FROM lease_interval WHERE token = ", lost.token));
  database_.Ask(absl::StrCat("DELETE FROM lease_reservation WHERE token = ", lost.token));
  database_.Ask(absl::StrCat("UPDATE lease_datasource SET last_token = ", kept));
  database_.Ask(
      "UPDATE store_facts SET text = regexp_replace(text, '[^/]*$', '0000000F')"
      " WHERE name = 'origin'");
  clock_.Advance(absl::Seconds(1));
  one_ = Open();
  const auto next = Reserve(*one_, Request("b", Hour(2)));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_GT(next->reservation.token, lost.token);
}

}  // namespace
}  // namespace interlock::lease
