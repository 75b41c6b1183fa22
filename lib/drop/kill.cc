#include "lib/drop/kill.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace interlock::drop {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void Member(Writer& writer, const char* key, const std::string& value) {
  writer.Key(key);
  writer.String(value);
}

void WriteContext(Writer& writer, const KillTask& task) {
  writer.Key("context");
  writer.StartObject();
  writer.Key("interlock");
  writer.StartObject();
  Member(writer, "drop", task.drop_id);
  writer.Key("attempt");
  writer.Int64(task.attempt);
  Member(writer, "nonce", task.nonce);
  writer.EndObject();
  writer.EndObject();
}

void SortOnce(std::vector<std::string>& versions) {
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
}

// Of two that abut, the earlier first.
KillPiece Both(const KillPiece& a, const KillPiece& b) {
  KillPiece both = a;
  both.interval = *Interval::Of(a.interval.start(), b.interval.end());
  both.versions.insert(both.versions.end(), b.versions.begin(), b.versions.end());
  SortOnce(both.versions);
  both.not_after = std::max(a.not_after, b.not_after);
  both.ids.insert(both.ids.end(), b.ids.begin(), b.ids.end());
  return both;
}

}  // namespace

std::vector<KillPiece> KillPieces(const Manifest& rows) {
  std::map<Interval, KillPiece> pieces;
  for (const ManifestRow& row : rows) {
    if (row.phase != Phase::kMarked || !row.unused_at) continue;
    KillPiece& piece = pieces[row.interval];
    piece.interval = row.interval;
    piece.versions.push_back(row.version);
    piece.not_after =
        piece.ids.empty() ? *row.unused_at : std::max(piece.not_after, *row.unused_at);
    piece.ids.push_back(row.id);
  }
  std::vector<KillPiece> sorted;
  for (auto& [interval, piece] : pieces) {
    SortOnce(piece.versions);
    sorted.push_back(std::move(piece));
  }
  return sorted;
}

bool WouldKill(const KillPiece& piece, const druid::UnusedSegment& unused) {
  if (!piece.interval.Contains(unused.segment.interval)) return false;
  if (!std::binary_search(piece.versions.begin(), piece.versions.end(), unused.segment.version)) {
    return false;
  }
  const auto& at = unused.used_status_last_updated;
  return !at || *at <= piece.not_after;
}

std::vector<KillPiece> Joined(const std::vector<KillPiece>& pieces,
                              const std::vector<druid::UnusedSegment>& unlisted, int64_t most) {
  std::vector<KillPiece> joined;
  for (const KillPiece& piece : pieces) {
    if (!joined.empty() && joined.back().interval.end() == piece.interval.start() &&
        static_cast<int64_t>(joined.back().ids.size() + piece.ids.size()) <= most) {
      KillPiece both = Both(joined.back(), piece);
      const bool reaches = std::any_of(
          unlisted.begin(), unlisted.end(),
          [&](const druid::UnusedSegment& segment) { return WouldKill(both, segment); });
      if (!reaches) {
        joined.back() = std::move(both);
        continue;
      }
    }
    joined.push_back(piece);
  }
  return joined;
}

std::string KillTaskJson(const KillTask& task, const KillPiece& piece) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  Member(writer, "type", "kill");
  Member(writer, "id", task.id);
  Member(writer, "dataSource", task.datasource);
  Member(writer, "interval", piece.interval.ToString());
  writer.Key("versions");
  writer.StartArray();
  for (const std::string& version : piece.versions) writer.String(version);
  writer.EndArray();
  Member(writer, "maxUsedStatusLastUpdatedTime", piece.not_after.ToString());
  WriteContext(writer, task);
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string OccupantNonce(const std::string& nonce) { return "noop-" + nonce; }

std::string OccupantJson(const KillTask& task) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  Member(writer, "type", "noop");
  Member(writer, "id", task.id);
  writer.Key("runTime");
  writer.Int64(1);
  KillTask occupant = task;
  occupant.nonce = OccupantNonce(task.nonce);
  WriteContext(writer, occupant);
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string KillFailure(const std::string& error) {
  const std::string text = absl::AsciiStrToLower(error);
  const auto says = [&text](const char* part) { return absl::StrContains(text, part); };
  if (says("shutdown request")) return kKillShutDown;
  if (says("permission") || says("access denied") || says("accessdenied") || says("forbidden") ||
      says("not permitted") || says("read-only")) {
    return "PERMISSION";
  }
  if (says("lock")) return "LOCK_CONFLICT";
  if (says("no such file") || says("nosuchfile") || says("filenotfound") || says("nosuchkey")) {
    return "FILE_MISSING";
  }
  // What Druid's own storages throw where they cannot delete. On an Indexer that is all that any
  // of its APIs tells (33: "Failed with exception [Unable to kill segment]. See indexer logs for
  // details.", no report, no task log); the cause is in the process's own log.
  if (says("unable to kill segment") || says("couldn't delete segments") ||
      says("couldn't kill segment")) {
    return kKillFilesLeft;
  }
  if (says("disappeared on the worker") || says("worker")) return "WORKER_LOST";
  return kKillOther;
}

bool WorthAnotherKill(const std::string& failure) { return failure != "PERMISSION"; }

}  // namespace interlock::drop
