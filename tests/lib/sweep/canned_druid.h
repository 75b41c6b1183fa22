// A Druid that says what a test wants: datasources, their segments, what is loaded, who
// holds locks. Behind the adapter, without a wire.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lib/druid/cluster.h"
#include "lib/time/mutex.h"
#include "tests/lib/druid/canned_transport.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::sweep {

struct CannedSegment {
  std::string interval;
  std::string version;
  int partition = 0;
  int core = 1;
  int64_t size = 10'000;

  std::string id(const std::string& datasource) const {
    const Interval parsed = *Interval::Parse(interval);
    return absl::StrCat(datasource, "_", parsed.start().ToString(), "_", parsed.end().ToString(),
                        "_", version, partition == 0 ? "" : absl::StrCat("_", partition));
  }
  std::string json(const std::string& datasource) const {
    return absl::StrCat(R"({"dataSource":")", datasource, R"(","interval":")",
                        Interval::Parse(interval)->ToString(), R"(","version":")", version,
                        R"(","size":)", size, R"(,"metrics":"events","shardSpec":{"type":)",
                        R"("numbered","partitionNum":)", partition, R"(,"partitions":)", core,
                        R"(},"identifier":")", id(datasource), R"("})");
  }
};

class CannedDruid {
 public:
  CannedDruid()
      : transport_(std::make_shared<druid::CannedTransport>(
            [this](const druid::HttpRequest& request) { return Answer(request); })),
        cluster_(druid::Options(druid::Access::kObserve), transport_) {
    transport_->piece_bytes = 100;
  }

  druid::Cluster& cluster() { return cluster_; }
  // How often a part of a URL was asked for.
  int Asked(const std::string& part) const {
    int count = 0;
    for (const auto& asked : transport_->Asked()) count += absl::StrContains(asked, part) ? 1 : 0;
    return count;
  }

  std::map<std::string, std::vector<CannedSegment>> segments;
  std::vector<std::string> streams;
  std::map<std::string, int64_t> unavailable;
  std::set<std::string> not_loaded;  // ids, counted where they are asked for
  bool knows_loading = true;         // false: 204 to every load status
  bool broker_down = false;
  std::map<std::string, double> rows;  // by segment id; 1 where it is not told
  std::vector<std::string> unused;     // datasources whose segments are all unused
  std::map<std::string, std::vector<CannedSegment>> unused_segments;  // by datasource
  std::string columns = R"({"__time":{"type":"LONG"},"events":{"type":"LONG"}})";
  // By datasource and interval: JSON of a sum's result.
  std::map<std::string, std::string> totals;
  std::string locks;  // JSON of one datasource's
  std::string rules = R"([{"type":"loadForever","tieredReplicants":{"_default_tier":1}}])";
  bool down = false;

 private:
  druid::HttpReply Answer(const druid::HttpRequest& request) {
    using druid::Reply;
    const std::string& url = request.url;
    if (down) return Reply(503, "");
    if (absl::EndsWith(url, "/metadata/datasources")) return Reply(200, Names());
    if (absl::StrContains(url, "/metadata/datasources?includeUnused")) return Reply(200, Ever());
    if (absl::StrContains(url, "/supervisor")) return Reply(200, Streams());
    if (absl::StrContains(url, "/rules/")) return Reply(200, rules);
    if (absl::StrContains(url, "/activeLocks") || absl::StrContains(url, "/lockedIntervals")) {
      return Reply(200, absl::StrCat(R"({"datasourceToLocks":{)", locks, "}}"));
    }
    if (absl::StrContains(url, "/druid/v2")) {
      return broker_down ? Reply(503, "") : Reply(200, Sums(request.body));
    }
    if (!knows_loading && absl::StrContains(url, "/loadstatus")) return Reply(204, "");
    if (absl::StrContains(url, "/unusedSegments")) return Reply(200, Unused(url));
    for (const auto& [name, all] : segments) {
      if (absl::StrContains(url, absl::StrCat("/datasources/", name, "/loadstatus"))) {
        return Reply(200, absl::StrCat("{\"", name, "\":", NotLoaded(name, url), "}"));
      }
      if (!absl::StrContains(url, absl::StrCat("/datasources/", name, "/segments"))) continue;
      if (absl::StrContains(url, "full")) return Reply(200, Full(name, request.body));
      if (all.empty()) return Reply(404, "");
      return Reply(200, Ids(name));
    }
    if (absl::StrContains(url, "/loadstatus")) return Reply(204, "");
    if (absl::EndsWith(url, "/segments")) return Reply(404, "");
    if (absl::StrContains(url, "/segments?full")) return Reply(200, "[]");
    return Reply(500, absl::StrCat("nothing canned for ", url));
  }
  std::string Names() const {
    std::vector<std::string> names;
    for (const auto& [name, all] : segments) {
      if (!all.empty()) names.push_back(absl::StrCat("\"", name, "\""));
    }
    return absl::StrCat("[", absl::StrJoin(names, ","), "]");
  }
  std::string Ever() const {
    std::string names = Names();
    for (const std::string& name : unused) {
      names.insert(1, absl::StrCat("\"", name, "\"", names == "[]" ? "" : ","));
    }
    return names;
  }
  std::string Streams() const {
    std::vector<std::string> all;
    for (const auto& name : streams) all.push_back(absl::StrCat(R"({"id":")", name, "\"}"));
    return absl::StrCat("[", absl::StrJoin(all, ","), "]");
  }
  int64_t NotLoaded(const std::string& name, const std::string& url) {
    const std::string rest = url.substr(url.find("&interval=") + 10);
    const Interval asked = *Interval::Parse(
        absl::StrReplaceAll(rest.substr(0, rest.find('&')), {{"%2F", "/"}, {"%3A", ":"}}));
    int64_t count = unavailable[name];
    for (const auto& segment : segments[name]) {
      const bool here = Interval::Parse(segment.interval)->Overlaps(asked);
      count += here && not_loaded.count(segment.id(name)) != 0 ? 1 : 0;
    }
    return count;
  }
  std::string Unused(const std::string& url) const {
    std::vector<std::string> rows;
    for (const auto& [name, all] : unused_segments) {
      if (!absl::StrContains(url, absl::StrCat("/datasources/", name, "/"))) continue;
      for (const auto& segment : all) {
        rows.push_back(absl::StrCat(R"({"dataSegment":)", segment.json(name), R"(,"used":false})"));
      }
    }
    return absl::StrCat("[", absl::StrJoin(rows, ","), "]");
  }
  std::string Ids(const std::string& name) {
    std::vector<std::string> ids;
    for (const auto& segment : segments[name]) {
      ids.push_back(absl::StrCat("\"", segment.id(name), "\""));
    }
    return absl::StrCat("[", absl::StrJoin(ids, ","), "]");
  }
  // `body` is ["start/end"].
  std::string Full(const std::string& name, const std::string& body) {
    const Interval asked = *Interval::Parse(body.substr(2, body.size() - 4));
    std::vector<std::string> found;
    for (const auto& segment : segments[name]) {
      if (Interval::Parse(segment.interval)->Overlaps(asked)) found.push_back(segment.json(name));
    }
    return absl::StrCat("[", absl::StrJoin(found, ","), "]");
  }
  std::string Sums(const std::string& body) {
    if (absl::StrContains(body, "segmentMetadata")) {
      return absl::StrCat(R"([{"id":"merged","columns":)", columns, "}]");
    }
    for (const auto& [what, result] : totals) {
      const std::vector<std::string> parts = absl::StrSplit(what, ' ');
      if (absl::StrContains(body, absl::StrCat(R"("dataSource":")", parts[0], "\"")) &&
          absl::StrContains(body, absl::StrCat("[\"", Interval::Parse(parts[1])->ToString()))) {
        return absl::StrCat(R"([{"result":)", result, "}]");
      }
    }
    for (const auto& [name, all] : segments) {
      for (const auto& segment : all) {
        const std::string one =
            absl::StrCat(R"({"itvl":")", Interval::Parse(segment.interval)->ToString(),
                         R"(","ver":")", segment.version, R"(","part":)", segment.partition, "}");
        if (!absl::StrContains(body, one)) continue;
        const auto found = rows.find(segment.id(name));
        const double n = found == rows.end() ? 1 : found->second;
        return absl::StrCat(R"([{"result":{"rows":)", n, R"(,"m0":)", n, "}}]");
      }
    }
    return "[]";
  }

  std::shared_ptr<druid::CannedTransport> transport_;
  druid::Cluster cluster_;
};

}  // namespace interlock::sweep
