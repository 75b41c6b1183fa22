// One segment, or one row of unusedSegments, from the tokens of its JSON: a SAX handler
// of segment_reader.cc. What does not decide is skipped without being kept.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/druid/canonical_json.h"
#include "lib/druid/segment.h"
#include "lib/druid/shard_spec.h"
#include "rapidjson/rapidjson.h"

namespace interlock::druid {

class SegmentHandler {
 public:
  // `wrapped`: rows of {"dataSegment": {…}, "createdDate", "usedStatusLastUpdatedDate"}.
  explicit SegmentHandler(bool wrapped) : wrapped_(wrapped) {}

  // Before each element.
  void Begin();
  // After a whole one: false, with the reason, where it lacks what a segment must have.
  bool Complete();

  UnusedSegment& row() { return row_; }
  const std::string& reason() const { return reason_; }

  bool Null();
  bool Bool(bool value);
  bool RawNumber(const char* text, rapidjson::SizeType size, bool copy);
  bool String(const char* text, rapidjson::SizeType size, bool copy);
  bool Key(const char* text, rapidjson::SizeType size, bool copy);
  bool StartObject();
  bool EndObject(rapidjson::SizeType members);
  bool StartArray();
  bool EndArray(rapidjson::SizeType elements);
  // The parser hands all numbers over as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  enum class Inside { kNothing, kRow, kSegment, kShardSpec };
  // Members that are kept; their order is that of kNames in the source.
  enum MemberName : int {
    kOther,
    kDataSegment,
    kCreatedDate,
    kUsedStatusLastUpdatedDate,
    kDataSource,
    kIdentifier,
    kInterval,
    kVersion,
    kLoadSpec,
    kMetrics,
    kShardSpec,
    kLastCompactionState,
    kSize,
    kType,
    kPartitionNum,
    kPartitions,
    kNumCorePartitions,
    kMemberCount,
  };

  static MemberName NameOf(Inside inside, absl::string_view name);
  bool Fail(std::string reason);
  bool WrongType();
  bool Text(absl::string_view text);
  bool SetDate(absl::string_view text, std::optional<Instant>* date);
  bool SetInterval(absl::string_view text);
  bool SetMetrics(absl::string_view text);
  bool SetShardNumber(absl::string_view text, std::optional<int32_t>* number);
  std::string IdFromParts() const;

  const bool wrapped_;
  UnusedSegment row_;
  // As they stood in the element before.
  std::string metrics_text_;
  std::vector<std::string> metrics_;
  std::string interval_text_;
  Interval interval_;
  ShardFields shard_;
  std::string reason_;

  Inside inside_ = Inside::kNothing;
  MemberName member_ = kOther;
  uint32_t seen_ = 0;     // bit per MemberName
  int skipping_ = 0;      // open arrays and objects of what is not kept
  bool loading_ = false;  // inside loadSpec
  CanonicalJson load_spec_;
};

}  // namespace interlock::druid
