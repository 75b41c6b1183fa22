// A lock on an interval, held for as long as a test wants: on a real Druid by a batch
// task whose input does not come (an HTTP server of ours that keeps it waiting), in the
// simulator by asking for it.
#pragma once

#include <memory>
#include <string>

#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {

class SlowInput;

class HeldLock {
 public:
  static constexpr int kPriority = 60;

  HeldLock(DruidAtHand& druid, const Interval& interval);
  ~HeldLock();

  const std::string& group() const { return group_; }
  // The input arrives, and the task ends.
  void Release();

 private:
  DruidAtHand& druid_;
  std::string group_;
  std::unique_ptr<SlowInput> input_;  // of a real task
  bool released_ = false;
};

}  // namespace interlock::druid
