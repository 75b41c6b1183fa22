// The runs of retention policies.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/retention_policies.h"
#include "lib/drop/retention_rows.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

// Of a claim, before the next datasource is looked at.
constexpr absl::Duration kLeastClaim = absl::Minutes(2);
// A run that Druid had no answers for begins again after so long.
constexpr absl::Duration kAgain = absl::Minutes(5);

// Bounds that Druid compares as text in its metadata store; what lies beyond no kill
// reaches anyway (NOT_KILLABLE).
const Instant kFirst = Instant::FromMillis(-62'167'219'200'000);  // 0000-01-01
const Instant kLast = Instant::FromMillis(253'402'300'799'999);   // 9999-12-31T23:59:59.999

// Ids are short and plain whatever a datasource is called; the same run makes the same.
std::string RequestIdOf(const RetentionPolicy& policy, const std::string& datasource) {
  uint64_t hash = 14'695'981'039'346'656'037U;  // FNV-1a
  for (const char c : absl::StrCat(policy.name, "\n", datasource)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  }
  return absl::StrCat("retention/", policy.next_run.ToString(), "/", absl::Hex(hash));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RetentionPolicies::DatasourcesOf(
    const RetentionPolicy& policy) {
  const auto listed = cluster_.ListDatasources();
  if (!listed.done()) return DruidUnavailable(listed.text());
  std::vector<std::string> fit;
  for (const std::string& name : listed.value()) {
    if (FitsPattern(policy.datasource_pattern, name)) fit.push_back(name);
  }
  std::sort(fit.begin(), fit.end());
  return fit;
}

absl::StatusOr<RetentionPolicies::Candidate> RetentionPolicies::Find(const RetentionPolicy& policy,
                                                                     const std::string& datasource,
                                                                     const Spent& spent,
                                                                     bool look_back) {
  Candidate candidate;
  const Instant before =
      OldBefore(policy, datasource, drops_.options(), std::min(store_.Now(), clock_.Now()));
  if (before <= kFirst) return candidate;
  OldData old;
  const auto read = cluster_.ReadUsedSegments(
      datasource, {*Interval::Of(kFirst, before)}, [&] { old.clear(); },
      [&](druid::Segment& segment) {
        if (segment.interval.end() > before || segment.interval.start() < kFirst) return;
        OldTime& time = old[segment.interval];
        ++time.segments;
        time.bytes += segment.size_bytes;
      });
  if (!read.done()) return DruidUnavailable(read.text());
  if (look_back && !old.empty()) {
    absl::Status status = store_.Read([&](store::Transaction& tx) {
      auto left_alone = LeftAlone(tx, policy, datasource);
      const size_t before_that = old.size();
      if (left_alone.ok()) Exclude(*left_alone, old);
      candidate.left_alone = old.size() < before_that;
      return left_alone.status();
    });
    if (!status.ok()) return status;
  }
  if (old.empty()) return candidate;
  candidate.any = true;
  candidate.share = OldestOf(old);
  int64_t total = 0;
  if (policy.max_share < 1) {
    const auto all = cluster_.ReadUsedSegments(
        datasource, {*Interval::Of(kFirst, kLast)}, [&] { total = 0; },
        [&](druid::Segment& segment) { total += segment.size_bytes; });
    if (!all.done()) return DruidUnavailable(all.text());
  }
  candidate.cap = CapReached(policy, spent, candidate.share, total);
  return candidate;
}

DropRequest RetentionPolicies::RequestFor(const RetentionPolicy& policy,
                                          const std::string& datasource,
                                          const Candidate& candidate) const {
  DropRequest request;
  request.datasource = datasource;
  request.intervals = candidate.share.intervals;
  request.holder = absl::StrCat("retention-", policy.name);
  request.window = policy.window;
  request.floor =
      std::max(policy.floor.value_or(absl::ZeroDuration()), drops_.options().FloorOf(datasource));
  request.approval = policy.approval;
  // Only whole segments that are old enough go; others stay where they are.
  request.accept_partial_cover = true;
  request.retention_policy = policy.name;
  request.retention_run = policy.next_run;
  request.cap = candidate.cap;
  return request;
}

absl::StatusOr<std::string> RetentionPolicies::RunOne(const RetentionPolicy& policy,
                                                      const std::string& datasource, bool* stop) {
  Spent spent;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto found = SpentBy(tx, policy.name, policy.next_run);
    if (found.ok()) spent = *found;
    return found.status();
  });
  if (!status.ok()) return status;
  const auto found = Find(policy, datasource, spent, /*look_back=*/true);
  if (!found.ok()) return found.status();
  if (!found->any) {
    return found->left_alone
               ? absl::StrCat("what is old of ", datasource,
                              " is left alone: its drop waits for a person, was given up or "
                              "brought back; store the policy anew to have it dropped again")
               : std::string();
  }
  const std::string what = absl::StrCat(found->share.segments, " segments, ", found->share.bytes,
                                        " bytes of ", datasource);
  if (found->share.intervals.empty()) {
    return absl::StrCat(datasource, ": what is old is more than one drop can hold");
  }
  if (policy.dry_run) {
    return absl::StrCat("would drop ", what,
                        found->cap.empty() ? "" : ", and ask first: ", found->cap);
  }
  const audit::Caller caller{
      policy.updated_by, RequestIdOf(policy, datasource),
      absl::StrCat("retention policy ", policy.name, ": older than ", policy.age.ToString())};
  const auto submitted = drops_.Submit(RequestFor(policy, datasource, *found), caller);
  if (!submitted.ok()) {
    if (ReasonOf(submitted.status()) == "DRUID_UNAVAILABLE") return submitted.status();
    return absl::StrCat(datasource, ": ", ReasonOf(submitted.status()), ": ",
                        submitted.status().message());
  }
  if (found->cap.empty()) return absl::StrCat(submitted->drop.id, " drops ", what);
  // A share is of its datasource alone; the other caps are of the whole run.
  *stop = spent.segments + found->share.segments > policy.max_segments ||
          (policy.max_bytes > 0 && spent.bytes + found->share.bytes > policy.max_bytes);
  return absl::StrCat(submitted->drop.id, " asks before it drops ", what, ": ", found->cap);
}

absl::StatusOr<std::string> RetentionPolicies::RunAll(const RetentionPolicy& policy,
                                                      work::Claim& claim) {
  const auto datasources = DatasourcesOf(policy);
  if (!datasources.ok()) return datasources.status();
  std::vector<std::string> lines;
  bool stop = false;
  for (const std::string& datasource : *datasources) {
    if (claim.Remaining(clock_) < kLeastClaim) {
      absl::Status status = work::Extend(store_, clock_, claim, 2 * kLeastClaim);
      if (!status.ok()) return status;
    }
    auto line = RunOne(policy, datasource, &stop);
    if (!line.ok()) return line.status();
    if (!line->empty()) lines.push_back(*std::move(line));
    if (!stop) continue;
    lines.emplace_back("stopped there");
    break;
  }
  if (lines.empty())
    return absl::StrCat("nothing old enough in ", datasources->size(), " datasources");
  return absl::StrJoin(lines, "; ").substr(0, kMaxRunMessageBytes);
}

absl::Status RetentionPolicies::EndRun(const RetentionPolicy& before, const std::string& message,
                                       const work::Claim& claim) {
  return store_.Write([&](store::Transaction& tx) {
    absl::StatusOr<RetentionPolicy> policy = ReadPolicy(tx, before.name);
    if (absl::IsNotFound(policy.status())) return work::Finish(tx, claim);
    if (!policy.ok()) return policy.status();
    // Stored anew meanwhile: that one's own run is due.
    if (policy->updated != before.updated) return work::Reschedule(tx, claim, policy->next_run);
    policy->run = tx.now();
    policy->run_message = message;
    policy->next_run = NextRun(*policy, before.next_run, tx.now());
    absl::Status status = WritePolicy(tx, *policy);
    return status.ok() ? work::Reschedule(tx, claim, policy->next_run) : status;
  });
}

absl::StatusOr<work::Outcome> RetentionPolicies::Step(work::Claim& claim) {
  absl::StatusOr<RetentionPolicy> policy = UnknownPolicy(claim.key);
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    policy = ReadPolicy(tx, claim.key);
    return policy.status();
  });
  if (absl::IsNotFound(status)) return work::Outcome::Finished();
  if (!status.ok()) return status;
  if (store_.Now() < policy->next_run) return work::Outcome::NextDue(policy->next_run);
  absl::StatusOr<std::string> message = RunAll(*policy, claim);
  if (ReasonOf(message.status()) == "DRUID_UNAVAILABLE") {
    // The same run again: what it has made already is not made twice.
    return work::Outcome::NextDue(store_.Now() + kAgain);
  }
  if (!message.ok()) return message.status();
  status = EndRun(*policy, *message, claim);
  if (!status.ok()) return status;
  return work::Outcome::Settled();
}

}  // namespace interlock::drop
