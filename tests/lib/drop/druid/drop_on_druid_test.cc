// Drops on a real Druid (or whichever the environment names): marked, restored, killed,
// with metadata and files listed to see what is gone and what is not.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lib/audit/audit.h"
#include "lib/drop/drops.h"
#include "lib/drop/worker.h"
#include "lib/lease/reservations.h"
#include "lib/store/facts.h"
#include "lib/store/sqlite.h"
#include "lib/time/clock.h"
#include "lib/time/status_reason.h"
#include "lib/work/loop.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"
#include "tests/druid/druid_at_hand/held_lock.h"

namespace interlock::drop {
namespace {

using druid::Hour;
using druid::Hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A file that nobody, root included, can remove while this lives; `works` is false where
// the file system or our rights do not allow that.
class Undeletable {
 public:
  explicit Undeletable(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    works_ = Set(true);
  }
  ~Undeletable() {
    Set(false);
    if (fd_ >= 0) close(fd_);
  }
  bool works() const { return works_; }

 private:
  bool Set(bool on) {
    int flags = 0;
    if (fd_ < 0 || ioctl(fd_, FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    return ioctl(fd_, FS_IOC_SETFLAGS, &flags) == 0;
  }

  const int fd_;
  bool works_ = false;
};

std::string FirstFileBelow(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) return entry.path().string();
  }
  return "";
}

class DropOnDruid : public druid::DruidAtHand {
 public:
  void SetUp() override {
    DruidAtHand::SetUp();
    if (HasFatalFailure()) return;
    options_.min_window = absl::Seconds(1);
    options_.default_window = absl::Seconds(3);
    options_.settle_time = absl::Milliseconds(300);
    options_.recheck_every = absl::Seconds(1);
    auto opened = store::OpenTemporarySqlite(
        {audit::AuditSchema(), lease::LeaseSchema(), work::WorkSchema(), DropSchema()}, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
    Start();
  }
  void TearDown() override { loop_.reset(); }

 protected:
  void Start() {
    work::LoopOptions loop;
    loop.threads = 1;
    loop.claimant = {"test", absl::Seconds(90)};
    loop.on_failure = [](const work::Claim& claim, const absl::Status& status) {
      ADD_FAILURE() << claim.key << ": " << status;
    };
    loop_ = std::make_unique<work::Loop>(*store_, clock_, loop);
    drops_ =
        std::make_unique<Drops>(*store_, cluster(), clock_, options_, [this] { loop_->Wake(); });
    WorkerOptions own;
    own.nonce = store::NewIncarnation;
    own.probe = std::make_shared<LocalProbe>(Folders());
    worker_ = std::make_unique<Worker>(*store_, cluster(), clock_, options_, own);
    loop_->Handle(kWorkKind, [this](work::Claim& claim) { return worker_->Step(claim); });
    loop_->Start();
  }

  // Deep storage is on this machine, wherever it is.
  static std::vector<std::string> Folders() { return {"/"}; }

  void Load(int first, int end, int n, bool append = false) {
    druid::BatchTask task;
    task.id = TaskId(absl::StrCat("load-", ++loads_));
    task.datasource = datasource();
    task.interval = Hours(first, end);
    task.append = append;
    task.drop = !append;
    for (int hour = first; hour < end; ++hour) task.events.push_back({hour, "a", n + hour});
    ASSERT_EQ(Run(task.Json()).state, druid::TaskState::kSuccess);
    WaitForLoad(Hours(0, 24));
  }
  double Sum(const Interval& interval) {
    const auto sums = cluster().SumRows(datasource(), {interval}, {"n"});
    EXPECT_TRUE(sums.done()) << sums.text();
    return sums.done() ? sums.value().front().sums.at("n") : -1;
  }
  std::vector<std::string> UsedIds() {
    std::vector<std::string> ids;
    for (const auto& segment : Used(Hours(0, 24))) ids.push_back(segment.id);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  std::vector<std::string> UnusedIds() {
    std::vector<std::string> ids;
    for (const auto& row : Unused(Hours(0, 24))) ids.push_back(row.segment.id);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  static bool FileIsThere(const ManifestRow& row) {
    return LocalProbe(Folders()).Exists(row.load_spec) == true;
  }

  DropRequest Request(const Interval& interval) {
    DropRequest request;
    request.datasource = datasource();
    request.intervals = {interval};
    return request;
  }
  std::string Submit(const DropRequest& request) {
    const auto submitted = drops_->Submit(request, {"ada", "", "GDPR"});
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return submitted.ok() ? submitted->drop.id : "";
  }
  Drops::Detail Now(const std::string& id) {
    auto detail = drops_->GetDetail(id);
    EXPECT_TRUE(detail.ok()) << detail.status();
    return detail.ok() ? *std::move(detail) : Drops::Detail();
  }
  void WaitFor(const std::string& id, State state) {
    WaitUntil(std::string("the drop is ") + Name(state), [&] {
      const Drop drop = Now(id).drop;
      if (Ended(drop.state) && drop.state != state) {
        ADD_FAILURE() << drop.state << " " << drop.hold << " " << drop.message;
        return true;
      }
      return drop.state == state;
    });
    EXPECT_EQ(Now(id).drop.state, state);
  }
  void WaitForHold(const std::string& id, const std::string& hold) {
    WaitUntil("the drop is held by " + hold, [&] { return Now(id).drop.hold == hold; });
  }

  SystemClock clock_;
  Options options_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<work::Loop> loop_;
  std::unique_ptr<Drops> drops_;
  std::unique_ptr<Worker> worker_;
  int loads_ = 0;
};

TEST_F(DropOnDruid, KillsOneHourAndNothingElse) {
  Load(12, 15, 1);
  Load(13, 14, 100);  // a second generation: the first is hidden and still used
  const auto plan = drops_->MakePlan(Request(Hour(13)));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->hidden_count(), 1);
  EXPECT_EQ(plan->row_count(), 1);
  EXPECT_THAT(plan->blockers, IsEmpty());

  const std::string id = Submit(Request(Hour(13)));
  WaitFor(id, State::kMarked);
  // Asked before anything that may outlast the window.
  if (can().unused_segments_list) {
    EXPECT_THAT(UnusedIds(), SizeIs(2));
  }
  EXPECT_THAT(UsedIds(), SizeIs(2));
  WaitUntil("queries see no rows", [&] { return Rows(Hour(13)) == 0; });
  if (!can().kill_bounded) {
    WaitFor(id, State::kKillNotBounded);
    return;
  }
  WaitFor(id, State::kKilled);
  EXPECT_THAT(UnusedIds(), IsEmpty());
  EXPECT_THAT(UsedIds(), SizeIs(2));
  const Drops::Detail detail = Now(id);
  EXPECT_GE(*detail.drop.kill_started, *detail.drop.window_end);
  for (const ManifestRow& row : detail.manifest) {
    EXPECT_EQ(row.phase, Phase::kKilled);
    EXPECT_FALSE(FileIsThere(row)) << row.load_spec;
    EXPECT_FALSE(Orphaned(row));
  }
  EXPECT_EQ(Sum(Hour(12)), 13);
  EXPECT_EQ(Sum(Hour(14)), 15);
}

TEST_F(DropOnDruid, RestoresHiddenAndVisibleSegmentsWithTheSameSums) {
  Load(12, 15, 1);
  Load(13, 14, 100);
  const auto used = UsedIds();
  DropRequest request = Request(Hour(13));
  request.window = absl::Hours(1);
  const std::string id = Submit(request);
  WaitFor(id, State::kMarked);
  WaitUntil("queries see no rows", [&] { return Rows(Hour(13)) == 0; });
  ASSERT_TRUE(drops_->Restore(id, {"ada", "r1", "wrong hour"}).ok());
  WaitFor(id, State::kRestored);
  EXPECT_EQ(UsedIds(), used);
  EXPECT_EQ(Sum(Hour(13)), 113);
  const Drop restored = Now(id).drop;
  EXPECT_EQ(restored.hold, "") << restored.message;
  ASSERT_TRUE(restored.sums_before && restored.sums_after);
  EXPECT_EQ(restored.sums_before->front().sums.at("n"), 113);
}

TEST_F(DropOnDruid, ASegmentAppendedInTheWindowStopsTheKill) {
  if (!can().kill_bounded) GTEST_SKIP() << "this Druid has no bounded kill";
  Load(13, 14, 1);
  const std::string id = Submit(Request(Hour(13)));
  WaitFor(id, State::kMarked);
  Load(13, 14, 50, /*append=*/true);
  WaitForHold(id, kNewerDataOver);
  EXPECT_THAT(UnusedIds(), SizeIs(1));
  EXPECT_EQ(ReasonOf(drops_->Restore(id, {"ada", "", "why"}).status()), "NEWER_DATA");
}

TEST_F(DropOnDruid, ALockOverItHoldsTheKillUntilItIsFree) {
  if (!can().kill_bounded) GTEST_SKIP() << "this Druid has no bounded kill";
  Load(13, 14, 1);
  const std::string id = Submit(Request(Hour(13)));
  WaitFor(id, State::kMarked);
  {
    druid::HeldLock lock(*this, Hour(13));
    WaitForHold(id, kLocked);
    EXPECT_THAT(UnusedIds(), SizeIs(1));
  }
  // The lock's own task writes nothing that stays over the hour, or the kill stays held.
  WaitUntil("the lock is gone", [&] {
    const Drop drop = Now(id).drop;
    return drop.hold != kLocked;
  });
}

// Case 53, made so for real: Druid removes the row first, and then cannot remove the file.
TEST_F(DropOnDruid, Case053NamesTheOrphanOfAFileThatCannotBeRemoved) {
  if (!can().kill_bounded) GTEST_SKIP() << "this Druid has no bounded kill";
  Load(13, 14, 1);
  const std::string id = Submit(Request(Hour(13)));
  WaitFor(id, State::kMarked);
  const std::string load_spec = Now(id).manifest.front().load_spec;
  const std::string key = "\"path\":\"";
  const size_t begin = load_spec.find(key) + key.size();
  const std::string path = load_spec.substr(begin, load_spec.find('"', begin) - begin);
  {
    const std::string file = std::filesystem::is_directory(path) ? FirstFileBelow(path) : path;
    const Undeletable undeletable(file);
    if (!undeletable.works()) GTEST_SKIP() << "no file can be made undeletable here";
    WaitUntil("the drop has ended", [&] { return Ended(Now(id).drop.state); });
    const Drops::Detail detail = Now(id);
    EXPECT_EQ(detail.drop.state, State::kKilled) << detail.drop.message;
    EXPECT_EQ(detail.kills.front().outcome, "FAILED");
    EXPECT_THAT(UnusedIds(), IsEmpty()) << "the metadata is gone";
    EXPECT_TRUE(std::filesystem::exists(file)) << "the file is not";
    EXPECT_TRUE(Orphaned(detail.manifest.front()));
  }
  std::filesystem::remove_all(path);
}

TEST_F(DropOnDruid, ALateMarkOfSomebodyElsesSurvivesTheKill) {
  if (!can().kill_bounded) GTEST_SKIP() << "this Druid has no bounded kill";
  Load(13, 14, 1);
  Load(13, 14, 2);
  const auto generations = UsedIds();
  // The older generation goes first, by somebody's hand.
  ASSERT_TRUE(cluster().MarkUnused(datasource(), {generations[0]}).done());
  const std::string id = Submit(Request(Hour(13)));
  WaitFor(id, State::kKilled);
  EXPECT_THAT(UnusedIds(), ElementsAre(generations[0])) << "it was on no manifest";
}

}  // namespace
}  // namespace interlock::drop
