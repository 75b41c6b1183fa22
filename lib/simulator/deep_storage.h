// Where segment files would lie, and, where a folder is given, do: so that a test can see
// files come and go.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/simulator/segment.h"

namespace interlock::simulator {

class DeepStorage {
 public:
  // Without a folder paths are made, and no files.
  explicit DeepStorage(const std::string& folder);

  // Gives the segment its file and loadSpec, as local deep storage lays them out, and
  // writes its rows. UNAVAILABLE where they can't be.
  absl::Status Push(Segment& segment) const;

  // The rows of a segment that was pushed; none for a tombstone. UNAVAILABLE where its
  // file is not there.
  absl::StatusOr<RowSet> Pull(const Segment& segment) const;

  // Removes the file and the folders above it that are empty then. Gone already is fine;
  // UNAVAILABLE where it can't be removed.
  absl::Status Remove(const Segment& segment) const;

 private:
  std::string folder_;  // absolute, or ""
};

}  // namespace interlock::simulator
