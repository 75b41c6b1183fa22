#include "server/conversions/finding.h"

#include "server/conversions/time.h"

namespace interlock::server {

void ToProto(const sweep::Finding& finding, v1::Finding* proto) {
  const sweep::Observed& observed = finding.observed;
  proto->set_finding_id(finding.id());
  v1::Finding::Kind kind = v1::Finding::KIND_UNSPECIFIED;
  v1::Finding::Kind_Parse(observed.kind, &kind);
  proto->set_kind(kind);
  proto->set_reason(observed.reason);
  proto->set_state(finding.open ? v1::Finding::OPEN : v1::Finding::CLOSED);
  proto->set_datasource(finding.datasource);
  proto->set_interval(observed.interval.ToString());
  proto->set_message(observed.message);
  proto->set_remedy(observed.remedy);
  ToProto(finding.opened, proto->mutable_open_time());
  ToProto(finding.seen, proto->mutable_seen_time());
  if (finding.closed) ToProto(*finding.closed, proto->mutable_close_time());
  if (observed.kind == sweep::kForeignWriter) proto->add_task_ids(observed.subject);
  if (observed.kind == sweep::kForeignDrop || observed.kind == sweep::kMarkedUsedAgain ||
      observed.kind == sweep::kKillFailed) {
    proto->set_drop_id(observed.subject);
  }
  if (observed.kind == sweep::kSealBroken || observed.kind == sweep::kSealRewritten) {
    proto->set_seal_id(observed.subject);
  }
  if (observed.verdict.empty()) return;
  v1::Verdict* verdict = proto->mutable_verdict();
  v1::Verdict::Kind what = v1::Verdict::UNDETERMINED;
  v1::Verdict::Kind_Parse(observed.verdict, &what);
  verdict->set_kind(what);
  verdict->set_reason(observed.reason);
  verdict->set_message(observed.message);
  verdict->set_remedy(observed.remedy);
  verdict->set_interval(observed.interval.ToString());
  verdict->set_score(observed.score);
  for (const auto& id : observed.segments) verdict->add_segment_ids(id);
  ToProto(finding.opened, verdict->mutable_since_time());
}

void ToProto(const guard::Finding& finding, v1::Finding* proto) {
  proto->set_finding_id("s-" + std::to_string(finding.number));
  v1::Finding::Kind kind = v1::Finding::KIND_UNSPECIFIED;
  v1::Finding::Kind_Parse(finding.kind, &kind);
  proto->set_kind(kind);
  proto->set_reason(finding.reason);
  proto->set_state(finding.closed ? v1::Finding::CLOSED : v1::Finding::OPEN);
  proto->set_datasource(finding.datasource);
  if (!finding.intervals.empty()) {
    proto->set_interval(
        Interval::Between(finding.intervals.front().start(), finding.intervals.back().end())
            .ToString());
  }
  proto->set_message(finding.message);
  proto->set_remedy(finding.remedy);
  ToProto(finding.opened, proto->mutable_open_time());
  ToProto(finding.seen, proto->mutable_seen_time());
  if (finding.closed) ToProto(*finding.closed, proto->mutable_close_time());
  proto->set_stream(finding.stream);
  proto->set_backfill_id(finding.backfill_id);
  for (const auto& id : finding.task_ids) proto->add_task_ids(id);
  if (finding.kind != guard::kVerdict) return;
  v1::Verdict* verdict = proto->mutable_verdict();
  v1::Verdict::Kind what = v1::Verdict::UNDETERMINED;
  v1::Verdict::Kind_Parse(finding.reason, &what);
  verdict->set_kind(what);
  verdict->set_reason(finding.reason);
  verdict->set_message(finding.message);
  verdict->set_remedy(finding.remedy);
  verdict->set_interval(proto->interval());
  verdict->set_score(1);
  verdict->set_writer(finding.stream.empty() && !finding.task_ids.empty() ? finding.task_ids.front()
                                                                          : finding.stream);
  ToProto(finding.opened, verdict->mutable_since_time());
}

void ToProto(const sweep::Swept& swept, v1::Sweep* proto) {
  proto->set_datasource(swept.datasource);
  if (swept.at) ToProto(*swept.at, proto->mutable_sweep_time());
}

absl::StatusOr<sweep::Filter> FromProto(const v1::ListFindingsRequest& request) {
  sweep::Filter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  for (int i = 0; i < request.kinds_size(); ++i) {
    if (!v1::Finding::Kind_IsValid(request.kinds(i)) || request.kinds(i) == 0) {
      return InvalidField("/kinds/" + std::to_string(i), "is no kind of a finding",
                          "write VERDICT, FOREIGN_WRITER, …");
    }
    filter.kinds.push_back(v1::Finding::Kind_Name(request.kinds(i)));
  }
  for (int i = 0; i < request.states_size(); ++i) {
    const auto state = request.states(i);
    if (state != v1::Finding::OPEN && state != v1::Finding::CLOSED) {
      return InvalidField("/states/" + std::to_string(i), "is no state of a finding",
                          "write OPEN or CLOSED");
    }
    if (i == 0) filter.open = false;
    (state == v1::Finding::OPEN ? filter.open : filter.closed) = true;
  }
  if (request.has_since_time()) filter.seen_since = FromProto(request.since_time());
  return filter;
}

}  // namespace interlock::server
