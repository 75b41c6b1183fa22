// A lock on a file that one process at a time can hold; the kernel frees it when the
// process ends, however it ends.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace interlock::store {

class FileLock {
 public:
  // Makes the file where there is none, and writes into it who holds it. STORE_IN_USE
  // names the other holder, also where that is this very process.
  static absl::StatusOr<std::unique_ptr<FileLock>> Take(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  const int descriptor_;
};

}  // namespace interlock::store
