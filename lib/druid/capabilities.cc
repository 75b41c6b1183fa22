// What a cluster offers, found by asking for paths (a 404 decides), and whether its
// services are there.
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

// No datasource of anybody's: nothing is read of it, and nothing could be changed.
constexpr char kNobodys[] = "interlock-asks-what-exists";

Call Probe(Service service, const std::string& method, const std::string& path,
           const std::string& body) {
  Call call;
  call.endpoint = "capabilities";
  call.service = service;
  call.method = method;
  call.path = path;
  call.body = body;
  call.probe = true;
  return call;
}

// Sets `exists`; false where it can't be told, with `answer` saying why.
bool Ask(ServiceCaller& caller, const Call& call, bool* exists, Answer<HttpReply>* answer) {
  *answer = caller.Send(call);
  *exists = answer->done();
  return answer->done() || answer->cause() == Cause::kUnsupported;
}

std::string AskVersion(ServiceCaller& caller) {
  std::string version;
  Call call;
  call.endpoint = "capabilities";
  call.service = Service::kCoordinator;
  call.path = "/status";
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    version = TextMember(reply, "version");
    return std::string();
  });
  caller.Send(call);
  return version;
}

// 30 of "30.0.1"; 0 where it does not begin with a number.
int MajorOf(absl::string_view version) {
  int major = 0;
  const absl::string_view digits = version.substr(0, version.find('.'));
  return absl::SimpleAtoi(digits, &major) ? major : 0;
}

bool AskLeader(ServiceCaller& caller, const std::string& base, Service service) {
  bool leader = false;
  Call call;
  call.path = service == Service::kOverlord ? "/druid/indexer/v1/isLeader"
                                            : "/druid/coordinator/v1/isLeader";
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    leader = BoolMember(reply, "leader").value_or(false);
    return std::string();
  });
  return caller.SendTo(base, call).done() && leader;
}

ServiceHealth CheckOne(ServiceCaller& caller, Service service, const std::string& base) {
  ServiceHealth health;
  health.service = ServiceName(service);
  health.address = base;
  Call call;
  call.service = service;
  call.path = "/status/health";
  call.read = [](const HttpReply& reply) {
    return absl::StripAsciiWhitespace(reply.body) == "true" ? "" : "health that is not true";
  };
  const Answer<HttpReply> answer = caller.SendTo(base, call);
  health.up = answer.done();
  health.refused = answer.cause() == Cause::kUnauthorized;
  health.text = answer.text();
  // Brokers have no leader: each of them answers for itself.
  health.leader = health.up && (service == Service::kBroker || AskLeader(caller, base, service));
  return health;
}

}  // namespace

Answer<Capabilities> Cluster::GetCapabilities() {
  const uint64_t times_away = impl_->caller.times_away();
  {
    const MutexLock lock(impl_->mutex);
    if (impl_->capabilities.has_value() && impl_->capabilities_as_of == times_away) {
      return Answer<Capabilities>::Done(*impl_->capabilities);
    }
  }
  Capabilities found;
  ServiceCaller& caller = impl_->caller;
  Answer<HttpReply> answer = Answer<HttpReply>::Done({});
  const std::string metadata =
      absl::StrCat("/druid/coordinator/v1/metadata/datasources/", kNobodys, "/unusedSegments");
  const std::string marks = absl::StrCat("/druid/indexer/v1/datasources/", kNobodys, "/markUnused");
  const bool told =
      // An empty filter is a 400 where the path exists.
      Ask(caller, Probe(Service::kOverlord, "POST", "/druid/indexer/v1/activeLocks", "[]"),
          &found.active_locks, &answer) &&
      Ask(caller, Probe(Service::kOverlord, "POST", "/druid/indexer/v1/lockedIntervals/v2", "[]"),
          &found.locked_intervals_v2, &answer) &&
      // Only POST is served there, so GET changes nothing and is a 405.
      Ask(caller, Probe(Service::kOverlord, "GET", marks, ""), &found.overlord_marks, &answer) &&
      Ask(caller, Probe(Service::kCoordinator, "GET", metadata, ""), &found.unused_segments_list,
          &answer);
  if (!told) return Answer<Capabilities>::Like(answer);
  found.version = AskVersion(caller);
  const int major = MajorOf(found.version);
  // No path came with 30, which added the second of the kill's two bounds; activeLocks
  // came with 31. So a 30 is known by its word for it, and only a plain 30: a version that
  // is numbered otherwise (a vendor's 2024.01) is one without, which costs a kill and
  // harms nothing.
  found.kill_bounded =
      found.active_locks || found.overlord_marks || (major == 30 && found.unused_segments_list);
  const MutexLock lock(impl_->mutex);
  impl_->capabilities = found;
  impl_->capabilities_as_of = times_away;
  return Answer<Capabilities>::Done(found);
}

std::vector<ServiceHealth> Cluster::CheckServices() {
  std::vector<ServiceHealth> all;
  for (const Service service : {Service::kCoordinator, Service::kOverlord, Service::kBroker}) {
    for (const std::string& base : impl_->caller.Addresses(service)) {
      all.push_back(CheckOne(impl_->caller, service, base));
    }
  }
  return all;
}

}  // namespace interlock::druid
