#include "lib/verify/attribution.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace interlock::verify {
namespace {

using druid::Segment;

// Druid's Date header counts whole seconds; versions and createdTime come from its own
// clock to the millisecond.
constexpr absl::Duration kDateGrain = absl::Seconds(1);

Attribution Told(Attribution::Kind kind, std::string version, std::string reason) {
  return {kind, std::move(version), std::move(reason)};
}

// The versions that no used segment had before, with whether any was compacted.
std::map<std::string, bool> NewVersions(const druid::Timeline& after,
                                        const AttributionQuestion& question) {
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
  // Rows appended to an old version make no new one.
  for (const std::string& version : old_versions) fresh.erase(version);
  return fresh;
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

}  // namespace

Attribution Attribute(const druid::Timeline& after, const AttributionQuestion& question) {
  const std::map<std::string, bool> fresh = NewVersions(after, question);
  if (fresh.empty()) {
    return Told(Attribution::Kind::kNothingNew, "", "no version is new");
  }
  const auto& [newest, compacted] = *fresh.rbegin();
  if (question.lock_version && newest == *question.lock_version) {
    return Told(Attribution::Kind::kOurs, newest, "the version of the lock that the task held");
  }
  if (compacted) {
    return Told(Attribution::Kind::kForeign, newest,
                absl::StrCat("version ", newest, " was made by compaction"));
  }
  if (question.lock_version) {
    return Told(
        Attribution::Kind::kForeign, newest,
        absl::StrCat("version ", newest, " is not the task's own, ", *question.lock_version));
  }
  if (fresh.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [version, unused] : fresh) names.push_back(version);
    return Told(Attribution::Kind::kUnattributed, newest,
                absl::StrCat("several versions are new: ", absl::StrJoin(names, ", ")));
  }
  return ByTime(newest, question);
}

}  // namespace interlock::verify
