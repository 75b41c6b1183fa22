#include "lib/sweep/sweeper.h"

#include <algorithm>
#include <deque>
#include <future>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/sweep/swept.h"
#include "lib/sweep/walk.h"

namespace interlock::sweep {
namespace {

constexpr char kListKey[] = "all";
// New datasources are seen this soon.
constexpr absl::Duration kListEvery = absl::Minutes(1);
// The first sweep of a datasource without a stream comes within this of its being found.
constexpr absl::Duration kFirstSpread = absl::Seconds(30);
// Longest claim between two pages; lengthened once so much of it is gone.
constexpr absl::Duration kPageLease = absl::Minutes(5);
constexpr absl::Duration kPageLeaseLeft = absl::Minutes(3);
// Pages that are read at once: while one is judged the next one arrives. Twice the memory, and
// no more requests a second than are allowed.
constexpr size_t kPagesAtOnce = 2;

absl::Status NoAnswer(const std::string& text) { return absl::UnavailableError(text); }

}  // namespace

Sweeper::Sweeper(store::Store& store, druid::Cluster& cluster, const Clock& clock,
                 SweeperOptions options)
    : store_(store),
      cluster_(cluster),
      clock_(clock),
      options_(std::move(options)),
      random_(options_.jitter_seed | 1) {}

absl::Status Sweeper::Begin() {
  return store_.Write(
      [](store::Transaction& tx) { return work::Schedule(tx, kListKind, kListKey, tx.now()); });
}

absl::StatusOr<work::Outcome> Sweeper::Step(work::Claim& claim) {
  return claim.kind == kListKind ? ListDatasources() : Sweep(claim);
}

absl::Duration Sweeper::Jitter(absl::Duration most) {
  MutexLock lock(mutex_);
  // xorshift64*: spread, not secrecy.
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return most * (static_cast<double>((random_ * 2685821657736338717u) >> 40) / (1 << 24));
}

bool Sweeper::IsWanted(const std::string& datasource) const {
  return options_.datasources.empty() ||
         std::any_of(options_.datasources.begin(), options_.datasources.end(),
                     [&](const std::string& p) { return MatchesPattern(p, datasource); });
}

absl::StatusOr<work::Outcome> Sweeper::ListDatasources() {
  const auto names = cluster_.ListDatasources();
  if (!names.done()) return NoAnswer(names.text());
  // Without it, only the order within a round is another.
  const auto streams = cluster_.ListStreamedDatasources();
  std::set<std::string> streamed;
  if (streams.done()) streamed.insert(streams.value().begin(), streams.value().end());
  for (const std::string& name : names.value()) {
    if (!IsWanted(name)) continue;
    const bool first = streamed.count(name) != 0;
    const absl::Duration spread =
        first ? absl::ZeroDuration() : Jitter(std::min(options_.every, kFirstSpread));
    auto status = store_.Write([&](store::Transaction& tx) {
      auto added = AddDatasource(tx, name, first);
      if (!added.ok() || !*added) return added.status();
      return work::Schedule(tx, kSweepKind, name, tx.now() + spread);
    });
    if (!status.ok()) return status;
  }
  return work::Outcome::NextDue(store_.Now() + std::min(options_.every, kListEvery));
}

absl::StatusOr<work::Outcome> Sweeper::Sweep(work::Claim& claim) {
  Walk walk{claim, claim.key, store_.Now(), {}, true, 0, 0, "", ""};
  auto contents = cluster_.ListUsedIntervals(walk.datasource);
  if (contents.done()) {
    walk.contents = std::move(contents.value());
  } else if (contents.refused() || !IsGone(walk.datasource)) {
    return NoAnswer(contents.text());
  } else {
    walk.listed = false;
  }
  const auto pages = PagesOf(walk.contents, options_.page_segments);
  if (!pages.empty()) {
    const Interval all =
        Interval::Between(pages.front().interval.start(), pages.back().interval.end());
    const auto load = cluster_.GetLoadStatus(walk.datasource, all, false);
    if (!load.done()) return NoAnswer(load.text());
    // A 204 to whoever has just listed them: nothing is known of their loading.
    if (!load.value().any_used) {
      return NoAnswer(absl::StrCat("the coordinator lists segments of ", walk.datasource,
                                   ", and has no load status for them"));
    }
    walk.unavailable = load.value().unavailable_segments;
  }
  if (auto status = SweepPages(walk, pages); !status.ok()) return status;
  memory_.Forget(walk.datasource, pages, store_.Now() - options_.grace);
  if (auto status = LookAtLeftovers(walk); !status.ok()) return status;
  if (auto status = LookForForeignWriters(walk); !status.ok()) return status;
  if (!walk.failed.empty()) return NoAnswer(walk.failed);
  return End(walk);
}

// Of a datasource without used segments Druid answers an empty 404, which could be
// anybody's; and lists it no more. (One that may not be seen is refused.)
bool Sweeper::IsGone(const std::string& datasource) {
  const auto names = cluster_.ListDatasources();
  return names.done() &&
         std::find(names.value().begin(), names.value().end(), datasource) == names.value().end();
}

absl::Status Sweeper::Keep(Walk& walk, const std::vector<Seen>& all) {
  std::vector<Finding> opened;
  auto status = store_.Write([&](store::Transaction& tx) -> absl::Status {
    opened.clear();
    // Another replica has it by now: its look is the newer one.
    if (auto lost = work::CheckClaim(tx, walk.claim); !lost.ok()) return lost;
    for (const Seen& seen : all) {
      auto kept = Record(tx, seen.scope, seen.observed);
      if (!kept.ok()) return kept.status();
      std::move(kept->opened.begin(), kept->opened.end(), std::back_inserter(opened));
    }
    return absl::OkStatus();
  });
  if (status.ok() && options_.on_open) {
    for (const Finding& finding : opened) options_.on_open(finding);
  }
  return status;
}

// In order of time; the pages ahead are read meanwhile.
absl::Status Sweeper::SweepPages(Walk& walk, const std::vector<Page>& pages) {
  if (!pages.empty()) {
    const auto rules = cluster_.GetRules(walk.datasource);
    walk.rules = rules.done() ? rules.value() : "";
  }
  struct Ahead {
    const Page* page;
    std::future<absl::StatusOr<Look>> look;
  };
  // Its futures wait for what is still read, so nothing outlives the walk.
  std::deque<Ahead> ahead;
  const auto take = [&] {
    absl::StatusOr<Look> look = ahead.front().look.get();
    const Page& page = *ahead.front().page;
    ahead.pop_front();
    return look.ok() ? SweepPage(walk, page, *look) : look.status();
  };
  for (const Page& page : pages) {
    walk.segments += page.content.segments;
    if (walk.unavailable == 0 && memory_.IsQuiet(walk.datasource, page, store_.Now())) continue;
    if (ahead.size() == kPagesAtOnce) {
      if (auto status = take(); !status.ok()) return status;
    }
    if (walk.claim.Remaining(clock_) < kPageLeaseLeft) {
      auto lost = work::Extend(store_, clock_, walk.claim, kPageLease);
      if (!lost.ok()) return lost;
    }
    ahead.push_back(
        {&page, std::async(std::launch::async, [this, question = AboutPage(walk, page)] {
           return LookAt(cluster_, question);
         })});
  }
  while (!ahead.empty()) {
    if (auto status = take(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

LookQuestion Sweeper::AboutPage(const Walk& walk, const Page& page) {
  LookQuestion question;
  question.datasource = walk.datasource;
  question.interval = page.interval;
  question.partitions = page.partitions;
  question.now = store_.Now();
  question.grace = options_.grace;
  question.thorough = false;
  question.none_hidden_at = [this, name = walk.datasource](const Interval& partition) {
    return memory_.NoneHiddenAt(name, partition);
  };
  question.rules = &walk.rules;
  // From the same snapshot of the coordinator's that the pages were planned by.
  if (walk.unavailable == 0) question.load = druid::LoadStatus{true, 0};
  return question;
}

absl::Status Sweeper::SweepPage(Walk& walk, const Page& page, const Look& look) {
  if (look.not_told) {
    walk.failed = look.not_told->message;
    return absl::OkStatus();
  }
  if (!look.not_weighed.empty()) walk.failed = look.not_weighed;
  const auto observed = ToKeep(look);
  const Scope scope = ScopeOf(walk.datasource, page.interval, look);
  // Versions that lie in the future, seen at the same go.
  Scope skew = scope;
  skew.kind = kClockSkew;
  std::vector<Observed> ahead;
  for (const auto& verdict : look.verdicts) {
    for (const auto& version : verdict.visible_versions) {
      const auto time = Instant::Parse(version);
      if (!time.ok() || *time <= store_.Now() + options_.clock_skew) continue;
      Observed one;
      one.kind = kClockSkew;
      one.interval = verdict.partition;
      one.reason = "VERSION_IN_THE_FUTURE";
      one.message = absl::StrCat("version ", version,
                                 " lies in the future: what is written now "
                                 "would be hidden by it");
      one.remedy = "mend the clocks of Druid's hosts; then drop that version and recompute";
      ahead.push_back(std::move(one));
      break;
    }
  }
  const bool told = scope.untold.empty() && look.unavailable == 0;
  const bool hidden = std::any_of(look.verdicts.begin(), look.verdicts.end(),
                                  [](const auto& one) { return !one.hidden_versions.empty(); });
  memory_.Remember(walk.datasource, page, told && observed.empty() && ahead.empty() && !hidden,
                   hidden ? std::nullopt : std::optional(store_.Now()));
  return Keep(walk, {{scope, observed}, {skew, ahead}});
}

absl::StatusOr<work::Outcome> Sweeper::End(Walk& walk) {
  const Instant next =
      std::max(store_.Now(), walk.begun + options_.every * 0.9 + Jitter(options_.every * 0.2));
  bool gone = false;
  auto status = store_.Write([&](store::Transaction& tx) -> absl::Status {
    auto open = SeenBefore(tx, walk.datasource, Instant::kMax, 1);
    if (!open.ok()) return open.status();
    // Or no longer chosen: what is open is looked at until it is right.
    gone = (!walk.listed || !IsWanted(walk.datasource)) && open->empty();
    if (gone) {
      if (auto removed = RemoveDatasource(tx, walk.datasource); !removed.ok()) return removed;
      return work::Finish(tx, walk.claim);
    }
    if (auto noted = NoteSwept(tx, walk.datasource, walk.segments, walk.unavailable); !noted.ok()) {
      return noted;
    }
    return work::Reschedule(tx, walk.claim, next);
  });
  if (!status.ok()) return status;
  if (gone) memory_.Forget(walk.datasource, {}, store_.Now());
  return work::Outcome::Settled();
}

bool MatchesPattern(absl::string_view pattern, absl::string_view name) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return pattern == name;
  if (!absl::StartsWith(name, pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (size_t skipped = 0; skipped <= name.size(); ++skipped) {
    if (MatchesPattern(pattern, name.substr(skipped))) return true;
  }
  return false;
}

}  // namespace interlock::sweep
