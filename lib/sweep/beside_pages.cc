// What a sweep looks at beside the pages of segments: findings where there are none by now,
// and Druid's locks.
#include <algorithm>
#include <utility>

#include "lib/druid/appends.h"
#include "lib/lease/reservations.h"
#include "lib/sweep/foreign_writers.h"
#include "lib/sweep/reused_ids.h"
#include "lib/sweep/walk.h"

namespace interlock::sweep {
namespace {

// Open findings outside of all pages that one sweep looks at.
constexpr int64_t kMostLeftovers = 200;

absl::StatusOr<std::vector<Finding>> OpenOf(store::Transaction& tx, const std::string& datasource,
                                            const char* kind) {
  Filter filter;
  filter.datasource = datasource;
  filter.kinds = {kind};
  auto open = List(tx, filter, kMostLeftovers, "");
  if (!open.ok()) return open.status();
  return std::move(open->findings);
}

bool IsAmong(const std::vector<Observed>& observed, const Observed& was) {
  return std::any_of(observed.begin(), observed.end(), [&](const Observed& one) {
    return one.subject == was.subject && one.interval == was.interval;
  });
}

// All of the datasource's time.
Scope EverywhereOf(const std::string& datasource, const char* kind) {
  Scope scope;
  scope.datasource = datasource;
  scope.kind = kind;
  scope.looked_at = Interval::Eternity();
  return scope;
}

}  // namespace

// What was wrong where by now there is no segment at all, or where pages are cut otherwise.
absl::Status Sweeper::LookAtLeftovers(Walk& walk) {
  std::vector<Finding> leftovers;
  auto status = store_.Read([&](store::Transaction& tx) {
    auto found = SeenBefore(tx, walk.datasource, walk.begun, kMostLeftovers);
    if (found.ok()) leftovers = std::move(*found);
    return found.status();
  });
  for (const Finding& finding : leftovers) {
    if (!status.ok()) break;
    status = LookAgain(walk, finding);
  }
  return status;
}

absl::Status Sweeper::LookAgain(Walk& walk, const Finding& finding) {
  const Observed& was = finding.observed;
  if (was.kind == kForeignDrop || was.kind == kMarkedUsedAgain || was.kind == kKillFailed) {
    if (!options_.drop_is_live || options_.drop_is_live(was.subject)) return absl::OkStatus();
    return store_.Write([&](store::Transaction& tx) { return Close(tx, finding.number); });
  }
  if (was.kind != kVerdict && was.kind != kClockSkew) return absl::OkStatus();
  LookQuestion question;
  question.datasource = walk.datasource;
  question.interval = was.interval;
  question.partitions = {was.interval};
  question.now = store_.Now();
  question.grace = options_.grace;
  question.thorough = false;
  auto look = LookAt(cluster_, question);
  if (!look.ok()) return look.status();
  if (look->not_told) {
    walk.failed = look->not_told->message;
    return absl::OkStatus();
  }
  Scope scope = ScopeOf(walk.datasource, was.interval, *look);
  if (was.kind == kClockSkew) {
    scope.kind = kClockSkew;
    return look->verdicts.front().visible_versions.empty() ? Keep(walk, {{scope, {}}})
                                                           : absl::OkStatus();
  }
  return Keep(walk, {{scope, ToKeep(*look)}});
}

absl::Status Sweeper::LookForForeignWriters(Walk& walk) {
  const auto locks = cluster_.ListLocks(walk.datasource, {});
  if (!locks.done()) {
    // Some versions can't be asked; what was found before stays.
    return absl::OkStatus();
  }
  std::vector<lease::Reservation> reservations;
  std::vector<Finding> known;
  auto status = store_.Read([&](store::Transaction& tx) {
    lease::Filter filter;
    filter.datasource = walk.datasource;
    auto listed = lease::List(tx, filter, {1000, ""});
    if (!listed.ok()) return listed.status();
    reservations = std::move(listed->reservations);
    auto open = OpenOf(tx, walk.datasource, kForeignWriter);
    if (!open.ok()) return open.status();
    known = *std::move(open);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Scope scope = EverywhereOf(walk.datasource, kForeignWriter);
  std::vector<Observed> observed = ForeignLocks(locks.value(), reservations);
  for (const Finding& finding : known) {
    if (IsAmong(observed, finding.observed)) continue;
    const auto used = cluster_.ListUsedSegments(walk.datasource, {finding.observed.interval});
    if (!used.done()) {
      scope.untold.push_back(finding.observed.interval);
    } else if (auto left = LeftByForeign(finding.observed, reservations, used.value())) {
      observed.push_back(*std::move(left));
    }
  }
  if (auto kept = Keep(walk, {{scope, observed}}); !kept.ok()) return kept;
  return LookForReusedIds(walk, locks.value());
}

// Where nothing is used; Druid lists what is unused from 29 on.
absl::Status Sweeper::LookForReusedIds(Walk& walk, const std::vector<druid::TaskLock>& locks) {
  const auto is_used = [&](const Interval& interval) {
    return std::any_of(walk.contents.begin(), walk.contents.end(),
                       [&](const auto& content) { return content.first.Overlaps(interval); });
  };
  Scope scope = EverywhereOf(walk.datasource, kIdReused);
  std::vector<Observed> observed;
  const auto look = [&](const Interval& interval, const auto& judge) {
    if (is_used(interval)) return;
    const auto unused = cluster_.ListUnusedSegments(walk.datasource, interval);
    if (!unused.done()) return scope.untold.push_back(interval);
    if (auto found = judge(unused.value())) observed.push_back(*std::move(found));
  };
  for (const auto& lock : locks) {
    if (!druid::Appends(lock)) continue;
    look(lock.interval, [&](const auto& unused) { return ReusedIds(lock, unused); });
  }
  std::vector<Finding> open;
  auto status = store_.Read([&](store::Transaction& tx) {
    auto found = OpenOf(tx, walk.datasource, kIdReused);
    if (!found.ok()) return found.status();
    open = *std::move(found);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  for (const Finding& finding : open) {
    const Observed& was = finding.observed;
    if (IsAmong(observed, was)) continue;
    look(was.interval, [&](const auto& unused) { return StillReused(was, unused); });
  }
  return Keep(walk, {{scope, observed}});
}

}  // namespace interlock::sweep
