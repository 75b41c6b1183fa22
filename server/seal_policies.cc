#include "server/seal_policies.h"

#include <utility>

#include "lib/backfill/placeholder.h"
#include "lib/seal/seal_errors.h"

namespace interlock::server {
namespace {

std::string Render(const std::string& label, const Interval& unit) {
  auto parsed = backfill::Template::Parse(label);
  return parsed.ok() ? parsed->Render(unit) : label;
}

}  // namespace

absl::Status CheckLabel(const seal::SealPolicy& policy) {
  return backfill::Template::Parse(policy.label).status();
}

absl::StatusOr<std::vector<seal::SealRequest>> DueNow(store::Store& store, druid::Cluster& cluster,
                                                      const seal::SealPolicy& policy) {
  auto datasources = cluster.ListDatasources();
  if (!datasources.done()) return seal::DruidUnavailable(datasources.text());
  std::vector<seal::SealRequest> all;
  for (const std::string& datasource : datasources.value()) {
    if (!seal::Applies(policy, datasource)) continue;
    const auto contents = cluster.ListUsedIntervals(datasource);
    if (!contents.done()) continue;
    std::vector<Interval> used;
    for (const auto& [interval, content] : contents.value()) used.push_back(interval);
    auto due = seal::DueUnits(store, policy, datasource, used, store.Now(), Render);
    if (!due.ok()) return due.status();
    for (seal::SealRequest& one : *due) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace interlock::server
