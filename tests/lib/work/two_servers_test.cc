// Servers that share a database share its steps: each is done by one of them.
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"
#include "lib/time/mutex.h"
#include "lib/time/reason.h"
#include "lib/work/loop.h"
#include "tests/lib/store/databases/postgres_database.h"

namespace interlock::work {
namespace {

class PostgresTwoServers : public ::testing::Test {
 protected:
  std::unique_ptr<store::Store> Open() {
    auto store = database_.Open({WorkSchema()}, clock_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  absl::Status Schedule(const std::string& key) {
    return one_->Write(
        [&](store::Transaction& tx) { return work::Schedule(tx, "k", key, tx.now()); });
  }
  std::vector<Claim> Claims(store::Store& store, const std::string& owner) {
    auto claims = ClaimDue(store, clock_, {owner, absl::Seconds(60)}, {"k"}, 10);
    EXPECT_TRUE(claims.ok()) << claims.status();
    return *claims;
  }

  FakeClock clock_;
  store::PostgresDatabase database_;
  std::unique_ptr<store::Store> one_ = Open();
  std::unique_ptr<store::Store> other_ = Open();
};

TEST_F(PostgresTwoServers, DoEachStepOnceBetweenThem) {
  constexpr int kSteps = 60;
  Mutex mutex;
  CondVar changed;
  std::map<std::string, int> runs;
  std::map<std::string, int> by_server;
  for (int i = 0; i < kSteps; ++i) ASSERT_TRUE(Schedule(absl::StrCat("s", i)).ok());
  const auto loop = [&](store::Store& store, const std::string& name) {
    LoopOptions options;
    options.claimant.owner = name;
    auto made = std::make_unique<Loop>(store, clock_, options);
    made->Handle("k", [&, name](Claim& claim) -> absl::StatusOr<Outcome> {
      MutexLock lock(mutex);
      ++runs[claim.key];
      ++by_server[name];
      changed.NotifyAll();
      return Outcome::Finished();
    });
    made->Start();
    return made;
  };
  auto first = loop(*one_, "one");
  auto second = loop(*other_, "other");
  {
    MutexLock lock(mutex);
    while (runs.size() < kSteps) changed.Wait(lock);
  }
  first->Stop();
  second->Stop();
  for (const auto& [key, count] : runs) EXPECT_EQ(count, 1) << key;
  EXPECT_TRUE(Claims(*one_, "one").empty());
}

TEST_F(PostgresTwoServers, OneThatStalledHasNoTimeLeftToSendAnythingAndIsRefused) {
  ASSERT_TRUE(Schedule("s").ok());
  const std::vector<Claim> stalled = Claims(*one_, "one");
  ASSERT_EQ(stalled.size(), 1u);
  EXPECT_EQ(stalled[0].Remaining(clock_), absl::Seconds(60));
  EXPECT_TRUE(Claims(*other_, "other").empty());
  clock_.Advance(absl::Seconds(60));
  // It wakes: on its own clock the claim is over before anybody else can have it.
  EXPECT_LE(stalled[0].Remaining(clock_), absl::ZeroDuration());
  const std::vector<Claim> taken = Claims(*other_, "other");
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_GT(taken[0].number, stalled[0].number);
  const absl::Status late =
      one_->Write([&](store::Transaction& tx) { return CheckClaim(tx, stalled[0]); });
  EXPECT_EQ(ReasonOf(late), "CLAIM_LOST") << late;
  EXPECT_TRUE(other_->Write([&](store::Transaction& tx) { return Finish(tx, taken[0]); }).ok());
}

TEST_F(PostgresTwoServers, AStepOfTheDatabasesClockLengthensNoClaimAndEndsNone) {
  ASSERT_TRUE(Schedule("s").ok());
  const std::vector<Claim> claims = Claims(*one_, "one");
  ASSERT_EQ(claims.size(), 1u);
  clock_.StepWall(absl::Hours(2));
  clock_.Advance(absl::Seconds(59));
  EXPECT_TRUE(Claims(*other_, "other").empty());
  clock_.StepWall(-absl::Hours(5));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Claims(*other_, "other").size(), 1u);
}

}  // namespace
}  // namespace interlock::work
