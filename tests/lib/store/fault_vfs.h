// SQLite's own file layer with faults that a test switches on: it stands in for a full
// disk, a failing fsync, a dying disk. One per process, under every database opened while
// it is installed.
#pragma once

#include <atomic>

namespace interlock::store {

enum class FileFault {
  kNone,
  kDiskFull,    // writes fail: no space
  kWriteError,  // writes fail: I/O error
  kSyncError,   // fsync fails
  kReadOnly,    // writes fail: read-only
};

class FaultVfs {
 public:
  // Installs itself as SQLite's default.
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // From the call after `calls_before` on, calls that the fault concerns fail; `count` of
  // them, or all.
  static void Set(FileFault fault, int calls_before = 0, int count = -1);
  static void Clear() { Set(FileFault::kNone); }
  // Calls that failed since Set.
  static int failed();
};

}  // namespace interlock::store
