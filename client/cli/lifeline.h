// Lets a process group not outlive this process, whatever ends it.
#pragma once

#include <sys/types.h>

namespace interlock::cli {

// A child that waits for this process's end and then kills the group: a command's own
// children would go on writing after a `kill -9` of whoever renews their lease, and the
// kernel's death signal reaches the command alone. It holds nothing of this process's:
// neither its connections, nor its output. From the thread that made it only.
class Lifeline {
 public:
  // Best before the group is made, so that there is no moment without.
  Lifeline();
  // Nobody is killed any more.
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

  // The group of the process that calls it. Between fork and exec too, where it belongs:
  // there must be no moment in which the command runs and is not guarded.
  void GuardOwnGroup() const;

 private:
  int end_ = -1;  // closes with this process, however that ends
  pid_t guard_ = -1;
};

}  // namespace interlock::cli
