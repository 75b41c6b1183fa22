#include "lib/drop/retention_policies.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/retention_rows.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

absl::Status RecordPolicy(store::Transaction& tx, const char* method, const audit::Caller& caller,
                          const std::string& name, const RetentionPolicy* policy) {
  audit::Event event;
  event.caller = caller;
  event.method = method;
  event.datasource = policy == nullptr ? "" : policy->datasource_pattern;
  event.subject = absl::StrCat("retention/", name);
  if (policy != nullptr) {
    event.after = audit::JsonObject()
                      .Text("datasources", policy->datasource_pattern)
                      .Text("age", policy->age.ToString())
                      .Text("schedule", policy->schedule.ToString())
                      .Number("max_segments", policy->max_segments)
                      .ToString();
  }
  return audit::Record(tx, event);
}

}  // namespace

RetentionPolicies::RetentionPolicies(store::Store& store, druid::Cluster& cluster,
                                     const Clock& clock, Drops& drops, std::function<void()> wake)
    : store_(store),
      cluster_(cluster),
      clock_(clock),
      drops_(drops),
      wake_(wake ? std::move(wake) : [] {}) {}

absl::StatusOr<RetentionPolicy> RetentionPolicies::Put(RetentionPolicy policy,
                                                       const audit::Caller& caller) {
  absl::Status status = CheckCaller(caller);
  if (status.ok()) status = CheckPolicy(policy, drops_.options());
  if (!status.ok()) return status;
  status = store_.Write([&](store::Transaction& tx) {
    const absl::StatusOr<RetentionPolicy> before = ReadPolicy(tx, policy.name);
    if (!before.ok() && !absl::IsNotFound(before.status())) return before.status();
    policy.run = before.ok() ? before->run : std::nullopt;
    policy.run_message = before.ok() ? before->run_message : "";
    policy.updated_by = caller.identity;
    policy.updated = tx.now();
    policy.next_run = tx.now();
    absl::Status stored = WritePolicy(tx, policy);
    if (stored.ok()) stored = work::Schedule(tx, kRetentionKind, policy.name, policy.next_run);
    if (stored.ok()) {
      stored = RecordPolicy(tx, "PutRetentionPolicy", caller, policy.name, &policy);
    }
    return stored;
  });
  if (!status.ok()) return status;
  wake_();
  return policy;
}

absl::StatusOr<RetentionPolicies::Page> RetentionPolicies::List(int64_t size,
                                                                const std::string& token) const {
  constexpr int64_t kDefaultSize = 100;
  const int64_t wanted = size <= 0 ? kDefaultSize : std::min(size, kMaxPageSize);
  Page page;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto policies = ReadPolicies(tx, token, wanted + 1);
    if (policies.ok()) page.policies = std::move(*policies);
    return policies.status();
  });
  if (!status.ok()) return status;
  if (static_cast<int64_t>(page.policies.size()) > wanted) {
    page.policies.pop_back();
    page.next = page.policies.back().name;
  }
  return page;
}

absl::Status RetentionPolicies::Delete(const std::string& name, const audit::Caller& caller) {
  absl::Status status = CheckCaller(caller);
  if (!status.ok()) return status;
  return store_.Write([&](store::Transaction& tx) {
    const std::string subject = absl::StrCat("retention/", name);
    absl::StatusOr<bool> is_new =
        IsNewRequest(tx, subject, "DeleteRetentionPolicy", "", caller.request_id);
    if (!is_new.ok() || !*is_new) return is_new.status();
    absl::Status removed = RemovePolicy(tx, name);
    if (removed.ok()) removed = work::Unschedule(tx, kRetentionKind, name);
    if (removed.ok()) {
      removed = RecordPolicy(tx, "DeleteRetentionPolicy", caller, name, nullptr);
    }
    return removed;
  });
}

absl::StatusOr<std::vector<Plan>> RetentionPolicies::Preview(const RetentionPolicy& policy) {
  absl::Status status = CheckPolicy(policy, drops_.options());
  if (!status.ok()) return status;
  const auto datasources = DatasourcesOf(policy);
  if (!datasources.ok()) return datasources.status();
  std::vector<Plan> plans;
  Spent spent;
  for (const std::string& datasource : *datasources) {
    auto found = Find(policy, datasource, spent, /*look_back=*/false);
    if (!found.ok()) return found.status();
    if (!found->any) continue;
    if (found->share.intervals.empty()) {
      Plan plan;
      plan.datasource = datasource;
      plan.blockers.push_back({kCapReached, datasource, found->cap});
      plans.push_back(std::move(plan));
      continue;
    }
    auto plan = drops_.MakePlan(RequestFor(policy, datasource, *found));
    if (!plan.ok()) return plan.status();
    if (!found->cap.empty()) plan->blockers.push_back({kCapReached, datasource, found->cap});
    spent.segments += found->share.segments;
    spent.bytes += found->share.bytes;
    plans.push_back(*std::move(plan));
  }
  return plans;
}

}  // namespace interlock::drop
