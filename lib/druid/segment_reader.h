// A JSON array of segments, read while it arrives: 1 M segments are 800 MB of text, of
// which what decides fits in a few dozen.
//
// The array's elements are parsed one by one, from the pieces as they come; only an
// element that a piece cuts is kept until its rest is there (kMaxElementBytes at most).
// Parsing does not recurse, and depth is bounded. Nonsense (no array, elements that are
// no segments, members that stand twice or are of another type, text that is no UTF-8)
// ends it with a reason.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "lib/druid/segment.h"

namespace interlock::druid {

class SegmentReader {
 public:
  // A datasource with ten thousand columns names them in a quarter of a megabyte.
  static constexpr size_t kMaxElementBytes = size_t{16} << 20;
  static constexpr int kMaxDepth = 64;

  enum class Shape {
    kSegments,    // POST …/segments?full: [{segment}, …]
    kUnusedRows,  // …/unusedSegments: [{"dataSegment": {segment}, "createdDate", …}, …]
  };
  // May move from the row; it is used again for the next one. Of kSegments the dates are
  // not set.
  using Sink = std::function<void(UnusedSegment& row)>;

  SegmentReader(Shape shape, Sink sink);
  ~SegmentReader();

  // False when no more is wanted: the reason is there.
  bool Feed(absl::string_view piece);
  // After the last piece: false where the array was not whole.
  bool Finish();
  // "" while all is well.
  const std::string& reason() const { return reason_; }
  int64_t count() const { return count_; }

 private:
  class Parser;
  enum class At { kStart, kFirstElement, kElement, kSeparator, kEnd };

  // Takes what it can from the front of `text`; false on nonsense.
  bool Take(absl::string_view* text, bool last);
  bool TakePunctuation(absl::string_view* text);
  bool TakeElement(absl::string_view* text, bool last);
  bool Fail(const std::string& reason);

  const Sink sink_;
  const std::unique_ptr<Parser> parser_;
  At at_ = At::kStart;
  std::string kept_;         // what no element was made of yet: at most one's beginning
  size_t try_again_at_ = 0;  // bytes of it that are worth another attempt
  int64_t count_ = 0;
  std::string reason_;
};

}  // namespace interlock::druid
