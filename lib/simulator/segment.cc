#include "lib/simulator/segment.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lib/simulator/json.h"

namespace interlock::simulator {
namespace {

constexpr int kBinaryVersion = 9;

}  // namespace

std::string SegmentId(const std::string& datasource, const Interval& interval,
                      const std::string& version, int partition) {
  std::string id = absl::StrCat(datasource, "_", interval.start().ToString(), "_",
                                interval.end().ToString(), "_", version);
  if (partition != 0) absl::StrAppend(&id, "_", partition);
  return id;
}

bool IsSegmentId(const std::string& datasource, absl::string_view id) {
  if (!absl::ConsumePrefix(&id, absl::StrCat(datasource, "_"))) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(id, '_');
  return parts.size() >= 3 && Instant::Parse(parts[0]).ok() && Instant::Parse(parts[1]).ok();
}

std::string ToJson(const Segment& segment) {
  JsonWriter out;
  out.Object()
      .Member("dataSource", segment.datasource)
      .Member("interval", segment.interval.ToString())
      .Member("version", segment.version)
      .RawMember("loadSpec", segment.load_spec_json)
      .Member("dimensions", segment.dimensions)
      .Member("metrics", segment.metrics)
      .RawMember("shardSpec", segment.shard_json);
  if (segment.tombstone) {
    out.NullMember("binaryVersion");
  } else {
    out.Member("binaryVersion", kBinaryVersion);
  }
  out.Member("size", segment.size).Member("identifier", segment.id).End();
  return out.Take();
}

}  // namespace interlock::simulator
