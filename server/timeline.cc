#include "server/timeline.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/done.h"
#include "lib/guard/rows.h"
#include "lib/lease/counts.h"
#include "lib/lease/reservations.h"
#include "lib/seal/rows.h"
#include "lib/sweep/swept.h"

namespace interlock::server {
namespace {

// Adds one item an interval.
void AddAll(const std::vector<Interval>& intervals, const TimelineItem& item, Timeline& timeline) {
  for (const Interval& interval : intervals) {
    timeline.items.push_back(item);
    timeline.items.back().interval = interval;
  }
}

std::string By(const std::string& who, const std::string& what) {
  return what.empty() ? who : absl::StrCat(who, ": ", what);
}

// Where a thing of the store is there, its datasource is known.
absl::Status ReadNames(store::Transaction& tx, std::set<std::string>& names) {
  auto reservations = lease::CountBlocking(tx);
  if (!reservations.ok()) return reservations.status();
  for (const auto& one : *reservations) names.insert(one.datasource);
  auto streams = guard::StreamsOf(tx, "");
  if (!streams.ok()) return streams.status();
  for (const auto& one : *streams) names.insert(one.datasource);
  auto swept = sweep::ListSwept(tx, "");
  if (!swept.ok()) return swept.status();
  for (const auto& one : *swept) names.insert(one.datasource);
  auto done = backfill::DatasourcesDone(tx);
  if (!done.ok()) return done.status();
  names.insert(done->begin(), done->end());
  return absl::OkStatus();
}

absl::Status ReadReservations(store::Transaction& tx, Timeline& timeline) {
  lease::Filter filter;
  filter.datasource = timeline.datasource;
  lease::Page page;
  page.size = kMostOfAKind;
  auto listed = lease::List(tx, filter, page);
  if (!listed.ok()) return listed.status();
  for (const lease::Reservation& one : listed->reservations) {
    const std::string state(lease::NameOf(one.state));
    AddAll(one.intervals, {"reservation", {}, one.id, state, By(one.holder, one.purpose)},
           timeline);
  }
  timeline.cut = timeline.cut || !listed->next.empty();
  return absl::OkStatus();
}

absl::Status ReadTails(store::Transaction& tx, Timeline& timeline) {
  auto streams = guard::StreamsOf(tx, timeline.datasource);
  if (!streams.ok()) return streams.status();
  for (const guard::Stream& one : *streams) {
    if (!one.tail.any) continue;
    auto interval = Interval::Of(one.tail.bound.StartAt(tx.now()), Instant::kMax);
    if (!interval.ok()) continue;
    timeline.items.push_back({"tail", *interval, one.name,
                              one.tail.bound.unbounded() ? "UNBOUNDED" : "BOUNDED",
                              one.stale ? "as last known" : "what it may still write"});
  }
  return absl::OkStatus();
}

absl::Status ReadSeals(store::Transaction& tx, Timeline& timeline) {
  auto seals = seal::SealsOver(tx, timeline.datasource, Interval::Eternity());
  if (!seals.ok()) return seals.status();
  int64_t left = kMostOfAKind;
  for (auto one = seals->rbegin(); one != seals->rend() && left > 0; ++one, --left) {
    timeline.items.push_back({"seal", one->interval, one->id,
                              std::string(seal::NameOf(seal::StateAt(*one, tx.now()))),
                              By(one->sealed_by, one->label.empty() ? one->reason : one->label)});
  }
  timeline.cut = timeline.cut || left == 0;
  return absl::OkStatus();
}

absl::Status ReadVersions(store::Transaction& tx, Timeline& timeline) {
  auto done = backfill::ListDone(tx, timeline.datasource, kMostOfAKind);
  if (!done.ok()) return done.status();
  for (const backfill::Done& one : *done) {
    timeline.items.push_back({"version", one.partition, one.version,
                              one.version.empty() ? "EMPTY" : "PROVEN",
                              absl::StrCat("by ", one.backfill_id)});
  }
  timeline.cut = timeline.cut || static_cast<int64_t>(done->size()) == kMostOfAKind;
  return absl::OkStatus();
}

absl::Status ReadBackfills(const backfill::Backfills& backfills, Timeline& timeline) {
  backfill::Backfills::Filter filter;
  filter.datasource = timeline.datasource;
  auto page = backfills.List(filter, kMostOfAKind, "");
  if (!page.ok()) return page.status();
  for (const auto& detail : page->backfills) {
    const backfill::Backfill& one = detail.backfill;
    AddAll(one.intervals,
           {"backfill",
            {},
            one.id,
            std::string(backfill::NameOf(one.phase)),
            By(one.requested_by, one.purpose)},
           timeline);
  }
  timeline.cut = timeline.cut || !page->next.empty();
  return absl::OkStatus();
}

absl::Status ReadDrops(const drop::Drops& drops, Timeline& timeline) {
  drop::Filter filter;
  filter.datasource = timeline.datasource;
  auto page = drops.List(filter, kMostOfAKind, "");
  if (!page.ok()) return page.status();
  for (const drop::Drop& one : page->drops) {
    AddAll(one.intervals,
           {"drop", {}, one.id, drop::Name(one.state), By(one.requested_by, one.reason)}, timeline);
  }
  timeline.cut = timeline.cut || !page->next.empty();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Timeline> ReadTimeline(const TimelineSource& source, const std::string& datasource) {
  Timeline timeline;
  absl::Status status = source.store.Read([&](store::Transaction& tx) {
    timeline = {};
    timeline.datasource = datasource;
    timeline.now = tx.now();
    std::set<std::string> names;
    absl::Status read = ReadNames(tx, names);
    timeline.datasources.assign(names.begin(), names.end());
    if (datasource.empty()) return read;
    if (read.ok()) read = ReadReservations(tx, timeline);
    if (read.ok()) read = ReadTails(tx, timeline);
    if (read.ok()) read = ReadSeals(tx, timeline);
    if (read.ok()) read = ReadVersions(tx, timeline);
    return read;
  });
  if (status.ok() && !datasource.empty()) status = ReadBackfills(source.backfills, timeline);
  if (status.ok() && !datasource.empty()) status = ReadDrops(source.drops, timeline);
  if (!status.ok()) return status;
  return timeline;
}

}  // namespace interlock::server
