#include "lib/backfill/backfills.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/job.h"

namespace interlock::backfill {
namespace {

constexpr int64_t kDefaultPartitions = 100;
constexpr int64_t kDefaultBackfills = 50;

absl::StatusOr<int64_t> PageFrom(const std::string& token, int64_t start) {
  if (token.empty()) return start;
  int64_t from = 0;
  if (!absl::SimpleAtoi(token, &from)) return BadPageToken(token);
  return from;
}

int64_t SizeOf(int64_t asked, int64_t usual) {
  return asked <= 0 ? usual : std::min(asked, kMaxPageSize);
}

absl::StatusOr<Backfills::Detail> DetailOf(store::Transaction& tx, Backfill backfill) {
  auto counts = CountPartitions(tx, backfill.id);
  if (!counts.ok()) return counts.status();
  auto totals = SumUnits(tx, backfill.id);
  if (!totals.ok()) return totals.status();
  auto tails = ReadTailTerms(tx, backfill.id);
  if (!tails.ok()) return tails.status();
  auto handover = ReadHandover(tx, backfill.id);
  if (!handover.ok()) return handover.status();
  return Backfills::Detail{std::move(backfill), *std::move(counts), *totals, *tails,
                           *std::move(handover)};
}

bool HasLabels(const Backfill& backfill, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& label) {
    const size_t equals = label.find('=');
    const auto it = backfill.labels.find(label.substr(0, equals));
    if (it == backfill.labels.end()) return false;
    return equals == std::string::npos || it->second == label.substr(equals + 1);
  });
}

bool HasPhase(const std::vector<Phase>& phases, Phase phase) {
  return phases.empty() || std::find(phases.begin(), phases.end(), phase) != phases.end();
}

}  // namespace

Backfills::Backfills(store::Store& store, druid::Cluster& cluster, Options options,
                     Changes& changes, std::function<void()> wake)
    : store_(store),
      cluster_(cluster),
      options_(std::move(options)),
      changes_(changes),
      wake_(std::move(wake)) {}

absl::StatusOr<Plan> Backfills::MakePlan(const BackfillRequest& request) const {
  absl::StatusOr<CheckedRequest> checked = Checked(request, options_, store_, cluster_);
  if (!checked.ok()) return checked.status();
  auto plan = PlanOf(*checked, options_.lease_limits, store_, cluster_);
  if (!plan.ok()) return plan;
  // What a submit would be refused for, its plan is.
  if (absl::Status status = CheckPlanned(request, *plan); !status.ok()) return status;
  return plan;
}

absl::StatusOr<SpecCorrection> Backfills::CorrectionOf(const BackfillRequest& request) const {
  std::string spec = request.spec;
  if (!request.job.empty()) {
    auto name = ParseJobName(request.job);
    if (!name.ok()) return name.status();
    absl::Status status = store_.Read([&](store::Transaction& tx) {
      auto job = ReadJob(tx, *name);
      if (job.ok()) spec = job->work;
      return job.status();
    });
    if (!status.ok()) return status;
  }
  CheckOptions options;
  options.intervals = request.intervals;
  options.accept_widening = request.accept_widening;
  return CorrectSpec(spec, options);
}

absl::StatusOr<Backfills::Detail> Backfills::Get(const std::string& id) const {
  Detail detail;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto backfill = ReadBackfill(tx, id);
    if (!backfill.ok()) return backfill.status();
    auto read = DetailOf(tx, *std::move(backfill));
    if (read.ok()) detail = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  return detail;
}

absl::StatusOr<Backfills::PartitionPage> Backfills::ListPartitions(const std::string& id,
                                                                   const PartitionFilter& filter,
                                                                   int64_t size,
                                                                   const std::string& token) const {
  auto from = PageFrom(token, Instant::kMin.millis());
  if (!from.ok()) return from.status();
  const int64_t most = SizeOf(size, kDefaultPartitions);
  PartitionPage page;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto backfill = ReadBackfill(tx, id);
    if (!backfill.ok()) return backfill.status();
    auto partitions = ReadPartitions(tx, id, filter, Instant::FromMillis(*from), most + 1);
    if (partitions.ok()) page.partitions = std::move(*partitions);
    return partitions.status();
  });
  if (!status.ok()) return status;
  if (static_cast<int64_t>(page.partitions.size()) > most) {
    page.next = absl::StrCat(page.partitions.back().partition.start().millis());
    page.partitions.pop_back();
  }
  return page;
}

absl::StatusOr<std::vector<Attempt>> Backfills::ListAttempts(const std::string& id,
                                                             int64_t unit) const {
  std::vector<Attempt> attempts;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto read = ReadAttempts(tx, id, unit);
    if (read.ok()) attempts = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  return attempts;
}

absl::StatusOr<Attempt> Backfills::GetAttempt(const std::string& id,
                                              const std::string& task_id) const {
  Attempt attempt;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto read = ReadAttempt(tx, task_id);
    if (read.ok() && read->backfill_id != id) return UnknownAttempt(task_id);
    if (read.ok()) attempt = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  return attempt;
}

absl::StatusOr<Backfills::Page> Backfills::List(const Filter& filter, int64_t size,
                                                const std::string& token) const {
  auto before = PageFrom(token, 0);
  if (!before.ok()) return before.status();
  const int64_t most = SizeOf(size, kDefaultBackfills);
  Page page;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    auto backfills = ReadBackfills(
        tx,
        {filter.datasource, filter.overlapping, filter.requested_by, filter.since, filter.until},
        *before, most);
    if (!backfills.ok()) return backfills.status();
    page = Page();
    if (static_cast<int64_t>(backfills->size()) == most) {
      page.next = absl::StrCat(backfills->back().number);
    }
    for (Backfill& backfill : *backfills) {
      if (!HasPhase(filter.phases, backfill.phase)) continue;
      if (!filter.job.empty() && backfill.job != filter.job) continue;
      if (!HasLabels(backfill, filter.labels)) continue;
      auto detail = DetailOf(tx, std::move(backfill));
      if (!detail.ok()) return detail.status();
      page.backfills.push_back(*std::move(detail));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return page;
}

absl::StatusOr<Backfills::News> Backfills::NewsSince(const std::string& id,
                                                     int64_t revision) const {
  constexpr int64_t kMostNews = kMaxPartitions;
  News news;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    auto backfill = ReadBackfill(tx, id);
    if (!backfill.ok()) return backfill.status();
    news = News();
    news.changed = backfill->revision > revision;
    news.revision = std::max(revision, backfill->revision);
    auto detail = DetailOf(tx, *std::move(backfill));
    if (!detail.ok()) return detail.status();
    news.detail = *std::move(detail);
    PartitionFilter filter;
    filter.after_revision = revision;
    auto partitions = ReadPartitions(tx, id, filter, Instant::kMin, kMostNews);
    if (!partitions.ok()) return partitions.status();
    news.partitions = *std::move(partitions);
    for (const StoredPartition& partition : news.partitions) {
      news.revision = std::max(news.revision, partition.revision);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return news;
}

}  // namespace interlock::backfill
