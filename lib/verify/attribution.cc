#include "lib/verify/attribution.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/appends.h"

namespace interlock::verify {
namespace {

using druid::Segment;

// Druid's Date header counts whole seconds; versions and createdTime come from its own
// clock to the millisecond.
constexpr absl::Duration kDateGrain = absl::Seconds(1);

Attribution Told(Attribution::Kind kind, std::string version, std::string reason) {
  return {kind, std::move(version), "", std::move(reason)};
}

struct Fresh {
  std::vector<std::string> written;  // versions, rising
  std::string compacted;             // the newest that a compaction made; "" if none
};

// The versions that no used segment had before.
Fresh FreshVersions(const druid::Timeline& after, const AttributionQuestion& question) {
  const std::set<std::string> before(question.used_before.begin(), question.used_before.end());
  std::set<std::string> old_versions;
  std::map<std::string, bool> fresh;
  for (const Segment& segment : after.segments()) {
    if (!segment.interval.Overlaps(question.partition)) continue;
    if (before.count(segment.id) != 0) {
      old_versions.insert(segment.version);
    } else {
      fresh[segment.version] = fresh[segment.version] || segment.compacted;
    }
  }
  Fresh result;
  for (const auto& [version, compacted] : fresh) {
    if (old_versions.count(version) != 0) continue;  // rows appended to an old version
    if (compacted) {
      result.compacted = version;
    } else {
      result.written.push_back(version);
    }
  }
  // A stream's rows from beside it, that are hidden: they are nobody's replacement.
  if (result.written.size() > 1 && result.written.front() == druid::kAppendVersion) {
    result.written.erase(result.written.begin());
  }
  return result;
}

Attribution ByTime(const std::string& version, const AttributionQuestion& question) {
  const auto time = Instant::Parse(version);
  if (!time.ok()) {
    return Told(Attribution::Kind::kUnattributed, version,
                absl::StrCat("version ", version, " is no time"));
  }
  if (*time < question.created || *time > question.ended + kDateGrain) {
    return Told(Attribution::Kind::kForeign, version,
                absl::StrCat("version ", version, " lies outside of the task's life, ",
                             question.created.ToString(), " to ", question.ended.ToString()));
  }
  if (question.others_seen) {
    return Told(Attribution::Kind::kUnattributed, version,
                "another task wrote this datasource during the task's life");
  }
  return Told(Attribution::Kind::kOurs, version, "made within the task's life, by no other task");
}

Attribution ByLock(const std::string& newest, const std::string& lock_version) {
  if (newest == lock_version) {
    return Told(Attribution::Kind::kOurs, newest, "the version of the lock that the task held");
  }
  return Told(Attribution::Kind::kForeign, newest,
              absl::StrCat("version ", newest, " is not that of the task's lock, ", lock_version));
}

Attribution OfWritten(const std::vector<std::string>& written,
                      const AttributionQuestion& question) {
  const std::string& newest = written.back();
  if (question.lock_version) return ByLock(newest, *question.lock_version);
  if (written.size() > 1) {
    return Told(Attribution::Kind::kUnattributed, newest,
                absl::StrCat("several versions are new: ", absl::StrJoin(written, ", ")));
  }
  return ByTime(newest, question);
}

}  // namespace

Attribution Attribute(const druid::Timeline& after, const AttributionQuestion& question) {
  const Fresh fresh = FreshVersions(after, question);
  if (!fresh.written.empty()) {
    Attribution told = OfWritten(fresh.written, question);
    if (fresh.compacted > told.version) told.compacted_as = fresh.compacted;
    return told;
  }
  if (!fresh.compacted.empty()) {
    return Told(Attribution::Kind::kForeign, fresh.compacted,
                absl::StrCat("version ", fresh.compacted, " was made by compaction"));
  }
  return Told(Attribution::Kind::kNothingNew, "", "no version is new");
}

}  // namespace interlock::verify
