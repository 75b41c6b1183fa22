#include "lib/simulator/segment.h"

#include "absl/strings/str_cat.h"
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
