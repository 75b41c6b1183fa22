#include "lib/druid/segment_handler.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/druid/error_body.h"
#include "lib/druid/utf8.h"

namespace interlock::druid {
namespace {

constexpr absl::string_view kNames[] = {"",
                                        "dataSegment",
                                        "createdDate",
                                        "usedStatusLastUpdatedDate",
                                        "dataSource",
                                        "identifier",
                                        "interval",
                                        "version",
                                        "loadSpec",
                                        "metrics",
                                        "shardSpec",
                                        "lastCompactionState",
                                        "size",
                                        "type",
                                        "partitionNum",
                                        "partitions",
                                        "numCorePartitions"};

}  // namespace

void SegmentHandler::Begin() {
  row_.created.reset();
  row_.used_status_last_updated.reset();
  Segment& segment = row_.segment;
  segment.id.clear();
  segment.datasource.clear();
  segment.version.clear();
  segment.load_spec.clear();
  segment.size_bytes = 0;
  segment.compacted = false;
  shard_ = ShardFields();
  reason_.clear();
  inside_ = Inside::kNothing;
  seen_ = 0;
  skipping_ = 0;
  loading_ = false;
}

bool SegmentHandler::Complete() {
  for (const MemberName name : {kDataSource, kInterval, kVersion}) {
    if ((seen_ & (1u << name)) == 0) return Fail(absl::StrCat("a segment without ", kNames[name]));
  }
  if ((seen_ & (1u << kMetrics)) == 0) row_.segment.metrics.clear();
  // DataSegment.java takes a missing spec for the only partition of one.
  if ((seen_ & (1u << kShardSpec)) == 0) shard_ = {"numbered", 0, 1, std::nullopt};
  row_.segment.shard = MakeShardSpec(shard_);
  if (row_.segment.id.empty()) row_.segment.id = IdFromParts();
  return true;
}

// SegmentId.java: partition 0 is not written.
std::string SegmentHandler::IdFromParts() const {
  const Segment& segment = row_.segment;
  std::string id = absl::StrCat(segment.datasource, "_", segment.interval.start().ToString(), "_",
                                segment.interval.end().ToString(), "_", segment.version);
  if (segment.shard.partition_num != 0) absl::StrAppend(&id, "_", segment.shard.partition_num);
  return id;
}

bool SegmentHandler::Fail(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
  return false;
}

bool SegmentHandler::WrongType() {
  return Fail(absl::StrCat(kNames[member_], " is of another type than a segment has"));
}

SegmentHandler::MemberName SegmentHandler::NameOf(Inside inside, absl::string_view name) {
  MemberName first = kDataSegment;
  MemberName last = kUsedStatusLastUpdatedDate;
  if (inside == Inside::kSegment) {
    first = kDataSource;
    last = kSize;
  } else if (inside == Inside::kShardSpec) {
    first = kType;
    last = kNumCorePartitions;
  }
  if (name.empty()) return kOther;
  for (int i = first; i <= last; ++i) {
    if (kNames[i].front() == name.front() && kNames[i] == name) return static_cast<MemberName>(i);
  }
  return kOther;
}

bool SegmentHandler::Key(const char* text, rapidjson::SizeType size, bool copy) {
  if (loading_) return load_spec_.Key(text, size, copy);
  if (skipping_ > 0) return true;
  member_ = NameOf(inside_, absl::string_view(text, size));
  if (member_ == kOther) return true;
  const uint32_t bit = 1u << member_;
  if ((seen_ & bit) != 0) return Fail(absl::StrCat(kNames[member_], " stands twice"));
  seen_ |= bit;
  return true;
}

bool SegmentHandler::Null() {
  if (loading_) return load_spec_.Null();
  if (skipping_ > 0) return true;
  // As good as absent.
  seen_ &= ~(1u << member_);
  return inside_ != Inside::kNothing || Fail("an element that is no object");
}

bool SegmentHandler::Bool(bool value) {
  if (loading_) return load_spec_.Bool(value);
  return skipping_ > 0 || member_ == kOther || WrongType();
}

bool SegmentHandler::RawNumber(const char* text, rapidjson::SizeType size, bool copy) {
  if (loading_) return load_spec_.RawNumber(text, size, copy);
  if (skipping_ > 0) return true;
  const absl::string_view number(text, size);
  switch (member_) {
    case kOther:
      return true;
    case kSize:
      if (absl::SimpleAtoi(number, &row_.segment.size_bytes)) return true;
      return Fail(absl::StrCat("a size of ", Shortened(number)));
    case kPartitionNum:
      return SetShardNumber(number, &shard_.partition_num);
    case kPartitions:
      return SetShardNumber(number, &shard_.partitions);
    case kNumCorePartitions:
      return SetShardNumber(number, &shard_.num_core_partitions);
    default:
      return WrongType();
  }
}

bool SegmentHandler::SetShardNumber(absl::string_view text, std::optional<int32_t>* number) {
  int32_t value = 0;
  // -1 is how Druid spells an unknown number of core partitions.
  const int32_t lowest = member_ == kNumCorePartitions ? -1 : 0;
  if (!absl::SimpleAtoi(text, &value) || value < lowest) {
    return Fail(absl::StrCat(kNames[member_], " is ", Shortened(text)));
  }
  *number = value;
  return true;
}

bool SegmentHandler::String(const char* text, rapidjson::SizeType size, bool copy) {
  const absl::string_view value(text, size);
  if (loading_) {
    // An escape can spell half a character.
    return IsUtf8(value) ? load_spec_.String(text, size, copy) : Fail("text that is no UTF-8");
  }
  if (skipping_ > 0 || member_ == kOther) return true;
  if (!IsUtf8(value)) return Fail(absl::StrCat(kNames[member_], " is no UTF-8"));
  return Text(value);
}

bool SegmentHandler::Text(absl::string_view text) {
  Segment& segment = row_.segment;
  switch (member_) {
    case kCreatedDate:
      return SetDate(text, &row_.created);
    case kUsedStatusLastUpdatedDate:
      return SetDate(text, &row_.used_status_last_updated);
    case kDataSource:
      segment.datasource.assign(text.data(), text.size());
      return true;
    case kIdentifier:
      segment.id.assign(text.data(), text.size());
      return true;
    case kVersion:
      segment.version.assign(text.data(), text.size());
      return true;
    case kInterval:
      return SetInterval(text);
    case kMetrics:
      return SetMetrics(text);
    case kType:
      shard_.type.assign(text.data(), text.size());
      return true;
    default:
      return WrongType();
  }
}

bool SegmentHandler::SetDate(absl::string_view text, std::optional<Instant>* date) {
  const absl::StatusOr<Instant> instant = Instant::Parse(text);
  if (!instant.ok()) return Fail(absl::StrCat(kNames[member_], " is ", Shortened(text)));
  *date = *instant;
  return true;
}

bool SegmentHandler::SetInterval(absl::string_view text) {
  if (text == interval_text_) {
    row_.segment.interval = interval_;
    return true;
  }
  const absl::StatusOr<Interval> interval = Interval::Parse(text);
  if (!interval.ok()) return Fail(absl::StrCat("interval is ", Shortened(text)));
  interval_text_.assign(text.data(), text.size());
  interval_ = *interval;
  row_.segment.interval = interval_;
  return true;
}

// Most segments of a list have the metrics of the one before.
bool SegmentHandler::SetMetrics(absl::string_view text) {
  if (text != metrics_text_) {
    metrics_text_.assign(text.data(), text.size());
    metrics_.clear();
    for (const absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
      metrics_.emplace_back(name.data(), name.size());
    }
  }
  // They are still there, unless the sink took them.
  if (row_.segment.metrics != metrics_) row_.segment.metrics = metrics_;
  return true;
}

bool SegmentHandler::StartObject() {
  if (loading_) return load_spec_.StartObject();
  if (skipping_ > 0 || (inside_ != Inside::kNothing && member_ == kOther)) {
    ++skipping_;
    return true;
  }
  if (inside_ == Inside::kNothing) {
    inside_ = wrapped_ ? Inside::kRow : Inside::kSegment;
  } else if (member_ == kDataSegment) {
    inside_ = Inside::kSegment;
  } else if (member_ == kShardSpec) {
    inside_ = Inside::kShardSpec;
  } else if (member_ == kLoadSpec) {
    loading_ = true;
    load_spec_.Clear();
    return load_spec_.StartObject();
  } else if (member_ == kLastCompactionState) {
    row_.segment.compacted = true;
    ++skipping_;
  } else {
    return WrongType();
  }
  return true;
}

bool SegmentHandler::EndObject(rapidjson::SizeType members) {
  if (loading_) {
    load_spec_.EndObject(members);
    if (!load_spec_.whole()) return true;
    loading_ = false;
    if (load_spec_.has_duplicates()) return Fail("a member of loadSpec stands twice");
    row_.segment.load_spec = load_spec_.text();
    return true;
  }
  if (skipping_ > 0) {
    --skipping_;
  } else if (inside_ == Inside::kShardSpec) {
    inside_ = Inside::kSegment;
  } else if (inside_ == Inside::kSegment) {
    inside_ = wrapped_ ? Inside::kRow : Inside::kNothing;
  } else {
    inside_ = Inside::kNothing;
  }
  return true;
}

bool SegmentHandler::StartArray() {
  if (loading_) return load_spec_.StartArray();
  if (skipping_ == 0 && inside_ != Inside::kNothing && member_ != kOther) return WrongType();
  if (inside_ == Inside::kNothing) return Fail("an element that is no object");
  ++skipping_;
  return true;
}

bool SegmentHandler::EndArray(rapidjson::SizeType elements) {
  if (loading_) return load_spec_.EndArray(elements);
  --skipping_;
  return true;
}

}  // namespace interlock::druid
