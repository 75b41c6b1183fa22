#include "lib/work/loop.h"

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"
#include "lib/time/mutex.h"
#include "tests/lib/store/databases/test_database.h"

namespace interlock::work {
namespace {

using ::testing::ElementsAre;

class LoopTest : public ::testing::Test {
 protected:
  LoopTest() : store_(store::OpenChosenStore({WorkSchema()}, clock_)) {
    options_.claimant.owner = "test";
    // Only a wake-up brings the loop to look: a lost one would show.
    options_.slow_look = absl::Hours(1);
  }
  void Make() { loop_ = std::make_unique<Loop>(*store_, clock_, options_); }

  void Schedule(const std::string& key, Instant due, const std::string& kind = "k") {
    EXPECT_TRUE(
        store_->Write([&](store::Transaction& tx) { return work::Schedule(tx, kind, key, due); })
            .ok());
    if (loop_ != nullptr) loop_->Wake();
  }
  void Note(const std::string& what) {
    MutexLock lock(mutex_);
    seen_.push_back(what);
    changed_.NotifyAll();
  }
  void AwaitSeen(size_t count) {
    MutexLock lock(mutex_);
    while (seen_.size() < count) changed_.Wait(lock);
  }
  std::vector<std::string> Seen() {
    MutexLock lock(mutex_);
    return seen_;
  }
  int64_t Steps() {
    int64_t steps = 0;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto rows = tx.Query("SELECT COUNT(*) FROM work_step", {});
                      if (rows.ok()) steps = rows->front().Int(0);
                      return rows.status();
                    })
                    .ok());
    return steps;
  }

  FakeClock clock_;
  std::unique_ptr<store::Store> store_;
  LoopOptions options_;
  std::unique_ptr<Loop> loop_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> seen_;
};

TEST_F(LoopTest, DoesWhatWasDueBeforeItStartedAndWhatIsScheduledLater) {
  Make();
  loop_->Handle("k", [&](Claim& claim) {
    Note(claim.key);
    return Outcome::Finished();
  });
  Schedule("before", store_->Now());
  loop_->Start();
  AwaitSeen(1);
  Schedule("after", store_->Now());
  AwaitSeen(2);
  loop_->Stop();
  EXPECT_THAT(Seen(), ElementsAre("before", "after"));
  EXPECT_EQ(Steps(), 0);
}

TEST_F(LoopTest, AStepThatIsDueAgainAtOnceRunsUntilItIsThrough) {
  Make();
  loop_->Handle("k", [&](Claim& claim) -> absl::StatusOr<Outcome> {
    Note(claim.key);
    if (Seen().size() < 5) return Outcome::NextDue(store_->Now());
    return Outcome::Finished();
  });
  loop_->Start();
  Schedule("a", store_->Now());
  AwaitSeen(5);
  loop_->Stop();
  EXPECT_EQ(Seen().size(), 5u);
  EXPECT_EQ(Steps(), 0);
}

TEST_F(LoopTest, DoesEachStepOnceOnManyThreads) {
  options_.threads = 8;
  Make();
  loop_->Handle("k", [&](Claim& claim) {
    Note(claim.key);
    return Outcome::Finished();
  });
  loop_->Start();
  for (int i = 0; i < 100; ++i) Schedule(absl::StrCat(i), store_->Now());
  AwaitSeen(100);
  loop_->Stop();
  const auto seen = Seen();
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 100u);
  EXPECT_EQ(seen.size(), 100u);
}

TEST_F(LoopTest, AFailedStepComesAgainLater) {
  std::atomic<int> failures{0};
  options_.on_failure = [&](const Claim&, const absl::Status&) { ++failures; };
  Make();
  loop_->Handle("k", [&](Claim& claim) -> absl::StatusOr<Outcome> {
    Note(absl::StrCat(claim.attempts));
    if (claim.attempts < 2) return absl::UnavailableError("not yet");
    return Outcome::Finished();
  });
  loop_->Start();
  Schedule("a", store_->Now());
  // Time passes until its delay is over, whenever it was noted.
  MutexLock lock(mutex_);
  while (seen_.size() < 3) {
    clock_.Advance(absl::Seconds(1));
    loop_->Wake();
    changed_.WaitFor(lock, std::chrono::milliseconds(1));
  }
  lock.Unlock();
  loop_->Stop();
  EXPECT_THAT(Seen(), ElementsAre("0", "1", "2"));
  EXPECT_EQ(failures, 2);
}

TEST_F(LoopTest, AnExceptionIsAFailedStep) {
  Make();
  loop_->Handle("k", [&](Claim&) -> absl::StatusOr<Outcome> {
    Note("thrown");
    throw std::runtime_error("boom");
  });
  loop_->Start();
  Schedule("a", store_->Now());
  AwaitSeen(1);
  loop_->Stop();
  EXPECT_EQ(Steps(), 1);
}

TEST_F(LoopTest, StopWaitsForWhatRunsAndGivesBackWhatWasClaimed) {
  options_.threads = 1;
  Make();
  std::atomic<bool> ended{false};
  Mutex gate;
  CondVar open;
  bool opened = false;
  loop_->Handle("k", [&](Claim& claim) {
    Note(claim.key);
    MutexLock lock(gate);
    while (!opened) open.Wait(lock);
    ended = true;
    return Outcome::Finished();
  });
  loop_->Start();
  Schedule("a", store_->Now());
  AwaitSeen(1);
  Schedule("b", store_->Now());
  std::thread stopper([&] { loop_->Stop(); });
  {
    MutexLock lock(gate);
    opened = true;
    open.NotifyAll();
  }
  stopper.join();
  EXPECT_TRUE(ended);
  // "b" was not begun, or was: then it is through. Either way nobody holds a claim.
  auto claims = ClaimDue(*store_, clock_, {"other", absl::Seconds(60)}, {"k"}, 10);
  ASSERT_TRUE(claims.ok());
  EXPECT_EQ(claims->size() + Seen().size(), 2u);
}

TEST_F(LoopTest, IdleItSleepsUntilTheNextStepIsDue) {
  Make();
  std::atomic<int> done{0};
  loop_->Handle("k", [&](Claim& claim) {
    ++done;
    Note(claim.key);
    return Outcome::Finished();
  });
  Schedule("a", store_->Now() + absl::Milliseconds(30));
  loop_->Start();
  // The fake clock moves; the loop's sleep is real and short, and it looks again after it.
  clock_.Advance(absl::Milliseconds(30));
  AwaitSeen(1);
  loop_->Stop();
  EXPECT_EQ(done, 1);
}

TEST(Backoff, DoublesUpToItsBoundWithJitter) {
  LoopOptions options;
  options.first_backoff = absl::Seconds(1);
  options.longest_backoff = absl::Seconds(60);
  const auto between = [&](int64_t attempts, absl::Duration base) {
    for (uint64_t random = 0; random < 2000; random += 7) {
      const absl::Duration delay = Loop::Backoff(options, attempts, random);
      EXPECT_GE(delay, base * 0.8);
      EXPECT_LE(delay, base * 1.2);
    }
  };
  between(0, absl::Seconds(1));
  between(1, absl::Seconds(2));
  between(5, absl::Seconds(32));
  between(6, absl::Seconds(60));
  between(1'000'000, absl::Seconds(60));
  EXPECT_NE(Loop::Backoff(options, 0, 1), Loop::Backoff(options, 0, 500));
}

}  // namespace
}  // namespace interlock::work
