#include "client/cli/progress.h"

#include "gtest/gtest.h"

namespace interlock::cli {
namespace {

using std::chrono::seconds;

v1::WatchBackfillResponse Moved(const std::string& partition, v1::Partition::State state,
                                bool current = true) {
  v1::WatchBackfillResponse change;
  change.mutable_partition()->set_partition(partition);
  change.mutable_partition()->set_state(state);
  change.set_current(current);
  return change;
}

TEST(Progress, CountsPartitionsAndReckonsFromWhatEndedSinceTheWatchBegan) {
  Progress progress;
  v1::WatchBackfillResponse first;
  first.mutable_backfill()->set_backfill_id("bf-7");
  progress.Take(first, seconds(0));
  progress.Take(Moved("a", v1::Partition::DONE, false), seconds(0));
  progress.Take(Moved("b", v1::Partition::RUNNING, false), seconds(0));
  progress.Take(Moved("c", v1::Partition::RESERVED, false), seconds(0));
  progress.Take(Moved("d", v1::Partition::RESERVED), seconds(0));
  // What was done before says nothing of how fast it goes.
  EXPECT_EQ(progress.Line(seconds(5)), "bf-7: 1 of 4 done, 1 running, 0 failed");
  progress.Take(Moved("b", v1::Partition::DONE), seconds(10));
  EXPECT_EQ(progress.Line(seconds(10)),
            "bf-7: 2 of 4 done, 0 running, 0 failed, 6.0/min, 20s left");
  progress.Take(Moved("c", v1::Partition::SUSPECT), seconds(10));
  progress.Take(Moved("d", v1::Partition::EMPTY), seconds(10));
  EXPECT_EQ(progress.Line(seconds(10)), "bf-7: 3 of 4 done, 0 running, 1 failed, 12.0/min");
}

}  // namespace
}  // namespace interlock::cli
