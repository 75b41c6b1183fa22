#include "server/doctor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "lib/drop/kill_duty.h"
#include "lib/druid/rules.h"
#include "lib/druid/supervisor.h"

namespace interlock::server {
namespace {

// Beyond it kills wait (lib/drop), and versions can come out older than what they replace.
constexpr absl::Duration kMaxSkew = absl::Seconds(5);
// An id that no segment has: marking it changes nothing, and needs the same permission as
// marking one that is there.
constexpr char kNoSegment[] =
    "interlock_doctor_2000-01-01T00:00:00.000Z_2000-01-02T00:00:00.000Z_none";

v1::Check* Add(v1::DiagnoseResponse& response, v1::Check::Result result, const std::string& name,
               const std::string& subject, const std::string& found, const std::string& remedy) {
  auto* check = response.add_checks();
  check->set_name(name);
  check->set_result(result);
  check->set_subject(subject);
  check->set_found(found);
  check->set_remedy(remedy);
  return check;
}

// A read that must be allowed: missing permission would look like absence.
template <class T>
void AddRead(v1::DiagnoseResponse& response, const std::string& name, const std::string& subject,
             const druid::Answer<T>& answer, const std::string& permission) {
  if (answer.done()) {
    Add(response, v1::Check::OK, name, subject, "allowed and answered", "");
  } else if (answer.cause() == druid::Cause::kUnauthorized) {
    Add(response, v1::Check::FAULT, name, subject, answer.text(),
        absl::StrCat("give Interlock's user ", permission,
                     ": without it Druid's lists hide things"));
  } else {
    Add(response, v1::Check::WARNING, name, subject, answer.text(),
        "ask again when the service is up");
  }
}

template <class T>
bool Denied(const druid::Answer<T>& answer) {
  return answer.cause() == druid::Cause::kUnauthorized;
}

// There is no such path, or somebody answers for it who is not the service that has it.
template <class T>
bool PassesNot(const druid::Answer<T>& answer) {
  return answer.cause() == druid::Cause::kUnsupported || answer.cause() == druid::Cause::kGarbled;
}

int Severity(v1::Check::Result result) {
  switch (result) {
    case v1::Check::FAULT:
      return 3;
    case v1::Check::WARNING:
      return 2;
    case v1::Check::OK:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

void Doctor::Diagnose(std::vector<std::string> datasources, v1::DiagnoseResponse& response) {
  CheckServices(response);
  CheckRouter(response);
  CheckCapabilities(response);
  const auto known = CheckDatasources(response);
  if (datasources.empty() && !known.empty()) datasources.push_back(known.front());
  for (const auto& datasource : datasources) {
    CheckReads(datasource, response);
    CheckRules(datasource, response);
    CheckWrite(datasource, response);
    CheckCompaction(datasource, response);
  }
  CheckStreams(response);
  CheckClock(response);
  CheckKillDuty(response);
  for (const auto& check : response.checks()) {
    if (Severity(check.result()) > Severity(response.result())) response.set_result(check.result());
  }
}

void Doctor::CheckServices(v1::DiagnoseResponse& response) {
  for (const auto& service : cluster_.CheckServices()) {
    const bool leads = service.service == "broker" || service.leader;
    if (service.up && leads) {
      Add(response, v1::Check::OK, "service", service.service,
          absl::StrCat(service.address, " is up"), "");
    } else if (service.up) {
      Add(response, v1::Check::WARNING, "service", service.service,
          absl::StrCat(service.address, " is up and does not lead: ", service.text),
          "add the leader's address, or wait for the election to end");
    } else {
      Add(response, v1::Check::FAULT, "service", service.service,
          absl::StrCat(service.address, ": ", service.text),
          "mend druid's addresses in the configuration, or start the service");
    }
  }
}

// A Router passes on queries by itself, and all else only with its management proxy: without
// it there is nothing at the paths of coordinator and overlord.
void Doctor::CheckRouter(v1::DiagnoseResponse& response) {
  constexpr char kName[] = "router proxy";
  if (routers_.empty()) {
    Add(response, v1::Check::NOT_CHECKED, kName, "",
        "no Router is configured: each service is asked directly", "");
    return;
  }
  const std::string address = absl::StrJoin(routers_, ", ");
  const auto listed = cluster_.ListDatasources();
  const auto supervised = cluster_.ListStreamedDatasources();
  const bool answers =
      (listed.done() || Denied(listed)) && (supervised.done() || Denied(supervised));
  if (answers) {
    Add(response, v1::Check::OK, kName, address, "on: it passes coordinator and overlord on", "");
  } else if (PassesNot(listed) || PassesNot(supervised)) {
    Add(response, v1::Check::FAULT, kName, address,
        absl::StrCat("off, it seems: ", PassesNot(listed) ? listed.text() : supervised.text()),
        "set druid.router.managementProxy.enabled=true on the Router, or give coordinator_urls, "
        "overlord_urls and broker_urls in place of router_urls");
  } else {
    Add(response, v1::Check::WARNING, kName, address,
        listed.done() ? supervised.text() : listed.text(), "ask again when the services are up");
  }
}

void Doctor::CheckCapabilities(v1::DiagnoseResponse& response) {
  const auto asked = cluster_.GetCapabilities();
  if (!asked.done()) {
    Add(response, v1::Check::WARNING, "paths", "", asked.text(),
        "ask again when the services are up");
    return;
  }
  const auto& has = asked.value();
  const auto one = [&](bool there, const char* name, const char* without) {
    Add(response, there ? v1::Check::OK : v1::Check::WARNING, "path", name,
        absl::StrCat(there ? "there" : "not there", " (Druid says it is ", has.version, ")"),
        there ? "" : without);
  };
  one(has.overlord_marks, "overlord mark paths",
      "the coordinator's are used: up to 31 they do nothing "
      "for a datasource that is not served; read back");
  one(has.unused_segments_list, "list of unused segments",
      "drops cannot be killed, nor proven gone");
  one(has.active_locks, "active locks", "only locked intervals are seen, without their holders");
  one(has.kill_bounded, "bounded kill", "drops end at KILL_NOT_BOUNDED: nothing is killed");
}

std::vector<std::string> Doctor::CheckDatasources(v1::DiagnoseResponse& response) {
  const auto listed = cluster_.ListDatasources();
  if (!listed.done()) {
    AddRead(response, "datasources", "", listed, "DATASOURCE READ");
    return {};
  }
  Add(response, v1::Check::OK, "datasources", "",
      absl::StrCat(listed.value().size(), " are listed"),
      listed.value().empty() ? "if there should be some: give Interlock's user DATASOURCE READ"
                             : "");
  return listed.value();
}

void Doctor::CheckReads(const std::string& datasource, v1::DiagnoseResponse& response) {
  // A time in which nobody has data keeps the answers short.
  const Interval nowhere = *Interval::Of(Instant::FromMillis(0), Instant::FromMillis(1));
  AddRead(response, "read segments", datasource, cluster_.ListUsedSegments(datasource, {nowhere}),
          "DATASOURCE READ");
  AddRead(response, "read tasks", datasource, cluster_.ListLiveTasks(datasource),
          "DATASOURCE READ");
  AddRead(response, "read locks", datasource, cluster_.ListLocks(datasource, {nowhere}),
          "STATE READ");
}

void Doctor::CheckRules(const std::string& datasource, v1::DiagnoseResponse& response) {
  const auto told = cluster_.GetRules(datasource);
  AddRead(response, "read rules", datasource, told, "DATASOURCE READ");
  if (!told.done()) return;
  const auto rules = druid::Rules::Parse(told.value());
  const Instant now = clock_.Now();
  const auto young = Interval::Of(now - absl::Hours(1), now);
  const druid::RuleVerdict verdict =
      rules.ok() && young.ok() ? rules->Of(*young, now) : druid::RuleVerdict();
  const auto of = [&](v1::Check::Result result, const char* found, const char* remedy) {
    Add(response, result, "retention rules", datasource,
        absl::StrCat("of what is an hour old: ", found, verdict.rule.empty() ? "" : ", ",
                     verdict.rule),
        remedy);
  };
  switch (verdict.fate) {
    case druid::Fate::kLoads:
      return of(v1::Check::OK, "loaded", "");
    case druid::Fate::kZeroReplicas:
      return of(v1::Check::WARNING, "kept, and served by nobody",
                "ask for --level visible: at `served` no backfill of such time is ever proven");
    case druid::Fate::kDropped:
      return of(v1::Check::WARNING, "dropped", "change the rule, or Druid takes away what is new");
    case druid::Fate::kNoRule:
      return of(v1::Check::WARNING, "no rule is for it: it is never served",
                "give the datasource, or all as their default, a load rule");
    case druid::Fate::kUnknown:
      return of(v1::Check::WARNING, "cannot be told: a rule is of a kind not known here",
                "look at its rules: what no rule loads is never served");
  }
}

// Backfills pre-empt it; it moves what a seal or a drop's plan has seen.
void Doctor::CheckCompaction(const std::string& datasource, v1::DiagnoseResponse& response) {
  const auto told = cluster_.GetCompactionConfig(datasource);
  if (!told.done()) return AddRead(response, "compaction", datasource, told, "CONFIG READ");
  const auto& config = told.value();
  if (!config) return (void)Add(response, v1::Check::OK, "compaction", datasource, "off", "");
  const std::string& skips = config->skip_offset_from_latest;
  Add(response, v1::Check::OK, "compaction", datasource,
      absl::StrCat("on", skips.empty() ? "" : ", but for the newest ", skips),
      "keep it off what will be dropped or sealed");
}

void Doctor::CheckStreams(v1::DiagnoseResponse& response) {
  const auto listed = cluster_.ListSupervisors();
  if (!listed.done()) return AddRead(response, "streams", "", listed, "DATASOURCE READ");
  bool any = false;
  for (const druid::Supervisor& one : listed.value()) {
    if (!one.streams()) continue;
    any = true;
    if (one.bounds.bounded()) {
      Add(response, v1::Check::OK, "stream", one.id,
          absl::StrCat("writes ", one.datasource, "; late messages are bounded"), "");
      continue;
    }
    Add(response, v1::Check::WARNING, "stream", one.id,
        absl::StrCat("writes ", one.datasource,
                     " without a bound on late messages, and so any time: plain backfills of it "
                     "are refused"),
        absl::StrCat("set lateMessageRejectionPeriod in its ioConfig, or declare a tail: "
                     "interlockctl streams register ",
                     one.datasource, " --tail P2D"));
  }
  if (!any) Add(response, v1::Check::OK, "streams", "", "no supervisor reads one", "");
}

void Doctor::CheckWrite(const std::string& datasource, v1::DiagnoseResponse& response) {
  if (access_ == druid::Access::kObserve) {
    Add(response, v1::Check::NOT_CHECKED, "write", datasource,
        "druid.access is OBSERVE: no write is sent", "set it to MANAGE to submit and drop");
    return;
  }
  const auto marked = cluster_.MarkUnused(datasource, {kNoSegment});
  if (marked.cause() == druid::Cause::kUnauthorized) {
    Add(response, v1::Check::FAULT, "write", datasource, marked.text(),
        "give Interlock's user DATASOURCE WRITE");
  } else if (marked.unknown()) {
    Add(response, v1::Check::WARNING, "write", datasource, marked.text(),
        "ask again when the service is up");
  } else {
    Add(response, v1::Check::OK, "write", datasource, "allowed (marking an id that is not there)",
        "");
  }
}

void Doctor::CheckClock(v1::DiagnoseResponse& response) {
  const auto asked = cluster_.GetCapabilities();
  const auto listed = cluster_.ListDatasources();
  const auto theirs = listed.druid_time() ? listed.druid_time() : asked.druid_time();
  if (!theirs) {
    Add(response, v1::Check::NOT_CHECKED, "clock", "", "no reply carried a Date", "");
    return;
  }
  // Date has whole seconds.
  const absl::Duration skew = absl::AbsDuration(clock_.Now() - *theirs);
  const bool good = skew <= kMaxSkew + absl::Seconds(1);
  Add(response, good ? v1::Check::OK : v1::Check::FAULT, "clock", "",
      absl::StrCat("ours and Druid's are ",
                   absl::FormatDuration(absl::Trunc(skew, absl::Seconds(1))), " apart"),
      good ? "" : "mend the hosts' time source: kills wait while they disagree");
}

void Doctor::CheckKillDuty(v1::DiagnoseResponse& response) {
  const auto settings = cluster_.GetCoordinatorSettings();
  if (!settings.done()) {
    Add(response, v1::Check::WARNING, "kill duty", "", settings.text(),
        settings.cause() == druid::Cause::kUnauthorized
            ? "give Interlock's user CONFIG READ and STATE READ"
            : "ask again when the service is up");
    return;
  }
  const auto duty = drop::ReadKillDuty(settings.value(), true);
  if (!duty) {
    Add(response, v1::Check::WARNING, "kill duty", "", "its settings cannot be read",
        "look at druid.coordinator.kill.*: a duty that kills ends a drop's window early");
  } else if (duty->on) {
    Add(response, v1::Check::WARNING, "kill duty", "",
        absl::StrCat("on, ", absl::FormatDuration(duty->buffer), " after a mark"),
        "keep its buffer longer than every window");
  } else {
    Add(response, v1::Check::OK, "kill duty", "", "off", "");
  }
}

}  // namespace interlock::server
