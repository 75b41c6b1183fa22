#include "lib/druid/service_caller.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{2'000};
constexpr int64_t kMaxLeaderBytes = 4 << 10;

std::string AuthorizationOf(const ClusterOptions& options) {
  if (options.basic_user.empty()) return "";
  return absl::StrCat(
      "Authorization: Basic ",
      absl::Base64Escape(absl::StrCat(options.basic_user, ":", options.basic_password)));
}

uint64_t SeedOf(const ClusterOptions& options) {
  return options.jitter_seed != 0 ? options.jitter_seed : std::random_device()();
}

std::string Below(const std::string& base, const std::string& path) {
  return absl::StrCat(absl::StripSuffix(base, "/"), path);
}

Asked AskedOf(const Call& call) {
  const std::string path = call.path.substr(0, call.path.find('?'));
  return {absl::StrCat(call.method, " ", path),
          call.task_id,
          call.submits,
          call.json_reply,
          call.probe,
          call.supervisor_id,
          call.service == Service::kBroker};
}

bool IsRedirect(const HttpReply& reply) {
  return reply.exchange == HttpReply::Exchange::kWhole &&
         (reply.status == 307 || reply.status == 308);
}

// A read that may get a better answer when asked again. Nonsense is no passing state, and
// may have been a gigabyte of it.
bool WorthRepeating(const Answer<HttpReply>& answer) {
  return answer.unknown() && answer.cause() != Cause::kGarbled;
}

bool WasAway(Cause cause) {
  return cause == Cause::kUnreachable || cause == Cause::kLost || cause == Cause::kNoLeader;
}

std::string OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kNotFound:
      return "not_found";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace

std::string ServiceName(Service service) {
  switch (service) {
    case Service::kOverlord:
      return "overlord";
    case Service::kCoordinator:
      return "coordinator";
    case Service::kBroker:
      break;
  }
  return "broker";
}

ServiceCaller::ServiceCaller(const ClusterOptions& options,
                             std::shared_ptr<HttpTransport> transport)
    : options_(options),
      transport_(std::move(transport)),
      authorization_(AuthorizationOf(options)),
      redirects_(options),
      jitter_(SeedOf(options)) {}

const std::vector<std::string>& ServiceCaller::Addresses(Service service) const {
  const std::vector<std::string>& own = service == Service::kOverlord      ? options_.overlord
                                        : service == Service::kCoordinator ? options_.coordinator
                                                                           : options_.broker;
  return own.empty() ? options_.router : own;
}

Answer<HttpReply> ServiceCaller::Send(const Call& call) {
  Budget budget{options_.call_deadline};
  Answer<HttpReply> answer = Attempts(call, &budget);
  Report(call, answer, budget);
  return answer;
}

Answer<HttpReply> ServiceCaller::SendSupported(const std::vector<Call>& ways, size_t* way) {
  Budget budget{options_.call_deadline};
  while (true) {
    const Call& call = ways[*way];
    Answer<HttpReply> answer = Attempts(call, &budget);
    if (answer.cause() != Cause::kUnsupported || *way + 1 >= ways.size()) {
      Report(call, answer, budget);
      return answer;
    }
    ++*way;
  }
}

Answer<HttpReply> ServiceCaller::SendTo(const std::string& base, const Call& call) {
  Budget budget{options_.call_deadline};
  return At(base, call, &budget);
}

Answer<HttpReply> ServiceCaller::Attempts(const Call& call, Budget* budget) {
  if (call.changes && options_.access == Access::kObserve) {
    return Answer<HttpReply>::Refused(
        Cause::kNotAllowed,
        absl::StrCat(AskedOf(call).what, ": not sent, since druid.access is OBSERVE"));
  }
  const int attempts = call.changes ? 1 : std::max(1, options_.read_attempts);
  Answer<HttpReply> answer = AtAnyAddress(call, budget);
  for (int attempt = 1; attempt < attempts && WorthRepeating(answer); ++attempt) {
    const Milliseconds pause = JitteredPause(attempt);
    if (pause >= budget->left) break;
    transport_->Pause(pause);
    budget->Spend(pause);
    answer = AtAnyAddress(call, budget);
  }
  return answer;
}

Answer<HttpReply> ServiceCaller::AtAnyAddress(const Call& call, Budget* budget) {
  const std::vector<std::string>& addresses = Addresses(call.service);
  if (addresses.empty()) {
    return Answer<HttpReply>::Refused(
        Cause::kNotAllowed, absl::StrCat(AskedOf(call).what, ": no address is configured for the ",
                                         ServiceName(call.service)));
  }
  size_t first = 0;
  {
    const MutexLock lock(mutex_);
    first = preferred_[call.service];
  }
  std::optional<Answer<HttpReply>> answer;
  for (size_t tried = 0; tried < addresses.size(); ++tried) {
    const size_t index = (first + tried) % addresses.size();
    answer = At(addresses[index], call, budget);
    // Where a connection was never made, nothing was sent; where a read found no leader,
    // the next address may know one.
    const bool elsewhere = answer->cause() == Cause::kUnreachable ||
                           (!call.changes && answer->cause() == Cause::kNoLeader);
    if (!elsewhere || budget->left <= Milliseconds(0)) {
      const MutexLock lock(mutex_);
      preferred_[call.service] = index;
      break;
    }
  }
  return *std::move(answer);
}

Answer<HttpReply> ServiceCaller::At(const std::string& base, const Call& call, Budget* budget) {
  std::string url = Below(base, call.path);
  HttpReply reply = Exchange(url, call, budget);
  for (int hop = 0; hop < RedirectPolicy::kMaxHops && IsRedirect(reply); ++hop) {
    Verdict refusal;
    std::string next = NextHop(base, url, call, reply, budget, &refusal);
    if (!refusal.text.empty()) return NotDone<HttpReply>(refusal);
    if (next.empty()) break;
    url = std::move(next);
    // Where this is never connected, nothing that acts was sent: who redirects did not act.
    reply = Exchange(url, call, budget);
  }
  return Judge(call, std::move(reply));
}

std::string ServiceCaller::NextHop(const std::string& base, const std::string& url,
                                   const Call& call, const HttpReply& reply, Budget* budget,
                                   Verdict* refusal) {
  const std::optional<std::string> next = ResolveUrl(url, reply.location);
  const std::optional<Url> from = ParseUrl(url);
  const std::optional<Url> target = next.has_value() ? ParseUrl(*next) : std::nullopt;
  if (!from.has_value() || !target.has_value()) return "";
  // To itself: it is electing, and would go on so.
  if (target->origin == from->origin && target->path == from->path) return "";
  const std::string service = ServiceName(call.service);
  if (!redirects_.Trusts(*target) && !redirects_.IsNamedLeader(service, *from, *target)) {
    LearnLeader(base, call.service, budget);
    if (!redirects_.IsNamedLeader(service, *from, *target)) {
      *refusal = {Outcome::kRefused, Cause::kNotAllowed,
                  absl::StrCat(AskedOf(call).what, ": ", RedirectPolicy::Refusal(*target))};
      return "";
    }
  }
  return *next;
}

void ServiceCaller::LearnLeader(const std::string& base, Service service, Budget* budget) {
  if (service == Service::kBroker) return;  // brokers have no leader
  Call call;
  call.path =
      service == Service::kOverlord ? "/druid/indexer/v1/leader" : "/druid/coordinator/v1/leader";
  const HttpReply reply = Exchange(Below(base, call.path), call, budget);
  if (reply.exchange != HttpReply::Exchange::kWhole || reply.status != 200) return;
  if (static_cast<int64_t>(reply.body.size()) > kMaxLeaderBytes) return;
  // A bare URL, though it says that it is JSON; quotes would make it so.
  const absl::string_view text = absl::StripAsciiWhitespace(reply.body);
  const std::optional<Url> leader =
      ParseUrl(std::string(absl::StripSuffix(absl::StripPrefix(text, "\""), "\"")));
  if (leader.has_value()) redirects_.NoteLeader(ServiceName(service), leader->origin);
}

HttpReply ServiceCaller::Exchange(const std::string& url, const Call& call, Budget* budget) {
  HttpRequest request;
  request.method = call.method;
  request.url = url;
  request.body = call.body;
  request.once = call.changes;
  request.max_reply_bytes = options_.max_reply_bytes;
  request.deadline = std::max(budget->left, Milliseconds(1));
  // Without it Druid 32 and 33 answer some marks with 500 and no body, their effect made.
  request.headers.push_back("Accept: application/json");
  if (call.method != "GET") request.headers.push_back("Content-Type: application/json");
  if (!authorization_.empty()) request.headers.push_back(authorization_);
  if (call.start_body) call.start_body();
  request.on_body = call.on_body;
  HttpReply reply = transport_->Send(request);
  budget->Spend(reply.took);
  return reply;
}

Answer<HttpReply> ServiceCaller::Judge(const Call& call, HttpReply reply) {
  const Asked asked = AskedOf(call);
  Verdict verdict = Classify(asked, reply);
  // A reader that stopped the exchange knows better why than the transport; one that
  // finds no fault did not stop it.
  const bool stopped = reply.cut_by_us && call.on_body != nullptr;
  if (call.read && (verdict.outcome == Outcome::kDone || stopped)) {
    const std::string nonsense = call.read(reply);
    if (!nonsense.empty()) verdict = Garbled(asked, nonsense);
  }
  if (WasAway(verdict.cause)) ++times_away_;
  const std::optional<Instant> druid_time = ParseHttpDate(reply.date);
  Answer<HttpReply> answer = verdict.outcome == Outcome::kDone
                                 ? Answer<HttpReply>::Done(std::move(reply))
                                 : NotDone<HttpReply>(verdict);
  answer.set_druid_time(druid_time);
  return answer;
}

std::chrono::milliseconds ServiceCaller::JitteredPause(int attempt) {
  const Milliseconds longest = std::min(kLongestPause, kFirstPause * (1 << std::min(attempt, 10)));
  const MutexLock lock(mutex_);
  std::uniform_int_distribution<int64_t> spread(longest.count() / 2, longest.count());
  return Milliseconds(spread(jitter_));
}

void ServiceCaller::Report(const Call& call, const Answer<HttpReply>& answer,
                           const Budget& budget) const {
  if (!options_.on_exchange) return;
  options_.on_exchange(call.endpoint, OutcomeName(answer.outcome()),
                       std::chrono::duration<double>(budget.took).count());
}

}  // namespace interlock::druid
