#include "tests/fuzz/segment_lists.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "lib/druid/id_list_reader.h"
#include "lib/druid/json.h"
#include "lib/druid/rules.h"
#include "lib/druid/segment_reader.h"
#include "lib/druid/timeline.h"

namespace interlock::druid {
namespace {

void Hold(bool what, const char* promise) {
  if (what) return;
  std::fprintf(stderr, "does not hold: %s\n", promise);
  std::abort();
}

template <class Reader>
bool FeedInPieces(Reader& reader, absl::string_view text, size_t piece) {
  for (size_t at = 0; at < text.size(); at += piece) {
    if (!reader.Feed(text.substr(at, piece))) return false;
  }
  return reader.Finish();
}

void CheckTimeline(std::vector<Segment> segments) {
  const Timeline timeline = Timeline::Of(std::move(segments));
  Instant last = Instant::kMin;
  for (const Slice& slice : timeline.Visible(Interval::Eternity())) {
    Hold(slice.interval.start() >= last, "slices are in order and disjoint");
    Hold(slice.chunk.Contains(slice.interval), "a slice lies within its chunk");
    Hold(!slice.segments.empty(), "a slice has segments");
    last = slice.interval.end();
  }
  Hold(timeline.Hidden().size() <= timeline.segments().size(), "hidden ones are some of all");
}

void ReadSegments(SegmentReader::Shape shape, absl::string_view text, size_t piece) {
  std::vector<Segment> segments;
  SegmentReader reader(shape, [&](UnusedSegment& row) { segments.push_back(row.segment); });
  const bool whole = FeedInPieces(reader, text, piece);
  Hold(whole == reader.reason().empty(), "a reason exactly where it is refused");
  Hold(reader.count() >= static_cast<int64_t>(segments.size()), "each is counted");
  CheckTimeline(std::move(segments));
}

}  // namespace

void ReadHostileList(absl::string_view input) {
  if (input.empty()) return;
  const auto first = static_cast<unsigned char>(input[0]);
  const absl::string_view text = input.substr(1);
  const size_t piece = std::max<size_t>(1, first >> 2);
  switch (first & 3) {
    case 0:
      return ReadSegments(SegmentReader::Shape::kSegments, text, piece);
    case 1:
      return ReadSegments(SegmentReader::Shape::kUnusedRows, text, piece);
    case 2: {
      IdListReader reader("d");
      const bool whole = FeedInPieces(reader, text, piece);
      return Hold(whole == reader.reason().empty(), "a reason exactly where it is refused");
    }
    default: {
      const auto rules = Rules::Parse(text);
      if (rules.ok()) rules->Of(Interval::Eternity(), Instant());
    }
  }
}

}  // namespace interlock::druid
