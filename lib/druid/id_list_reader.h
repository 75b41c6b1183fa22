// A JSON array of segment ids, read while it arrives: which intervals a datasource has
// segments in, and a digest of the ids of each, in memory that grows with the intervals and
// not with the segments.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "lib/time/interval.h"

namespace interlock::druid {

// The used segments of one interval, by their ids alone.
struct IntervalContent {
  int64_t segments = 0;
  // The sum of a hash of each id: the same ids give the same, in whatever order.
  uint64_t digest = 0;

  bool operator==(const IntervalContent&) const = default;
};
using IntervalContents = std::map<Interval, IntervalContent>;

class IdListReader {
 public:
  // Names of datasources have at most 255 bytes, and versions are times.
  static constexpr size_t kMaxIdBytes = 4096;

  explicit IdListReader(std::string datasource) : prefix_(std::move(datasource) + "_") {}

  // False when no more is wanted: the reason is there.
  bool Feed(absl::string_view piece);
  // After the last piece: false where the array was not whole.
  bool Finish();
  const std::string& reason() const { return reason_; }
  IntervalContents& contents() { return contents_; }

 private:
  enum class At { kStart, kFirst, kSeparator, kElement, kInside, kEscape, kEnd };

  bool Take(char c);
  bool Fail(std::string reason);
  // DATASOURCE_START_END_VERSION[_PARTITION]: SegmentId.java.
  bool EndOfId();

  const std::string prefix_;
  IntervalContents contents_;
  std::string id_;
  std::string reason_;
  At at_ = At::kStart;
};

}  // namespace interlock::druid
