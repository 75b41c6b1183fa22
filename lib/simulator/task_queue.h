// The overlord's queue: tasks wait for their locks, then for a worker's slot, run for a
// while, and then have their effect, at one moment.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/simulator/task.h"

namespace interlock::simulator {

class World;

class TaskQueue {
 public:
  explicit TaskQueue(World& world) : world_(world) {}

  // The id must be new. The task may start at once; one that is done already, of a saved
  // state, is only kept.
  void Submit(Task task);
  // Null where there is none. Pointers hold for good: tasks are never forgotten.
  Task* Find(const std::string& id);
  // A task that is not done becomes FAILED at once, its locks free. Its slot is free only
  // when its thread ends: for noop that is when it would have ended anyway.
  void Shutdown(Task& task);
  // One that runs until it is told to end (a stream's) ends well.
  void Succeed(Task& task);

  // In order of submission.
  std::vector<const Task*> tasks() const;
  int64_t submitted() const { return static_cast<int64_t>(order_.size()); }

  // Counts submits and ends.
  int64_t revision() const { return revision_; }

  std::optional<Moment> NextDue() const;
  void DoDue();
  // Takes every task on that can go on: to be called when a lock or a slot got free.
  void Pump();

 private:
  // One task a stage or two further; false where it stays.
  bool Push(Task& task);
  bool Ready(Task& task);
  void Start(Task& task);
  void StartSubtask(Task& parent);
  void RunIngestion(Task& task);
  void FailIngestion(Task& task, const char* state, const std::string& error);
  void End(Task& task);
  void EndIngestion(Task& task);
  void LookWhetherServed(Task& task);
  void FinishAsFated(Task& task, bool success, const std::string& error);
  void Finish(Task& task, bool success, const std::string& error);
  int UsedSlots() const;

  World& world_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;
  std::vector<Task*> order_;
  std::vector<Task*> live_;  // not done yet, in order
  std::vector<Task*> lingering_;
  int64_t revision_ = 0;
};

}  // namespace interlock::simulator
