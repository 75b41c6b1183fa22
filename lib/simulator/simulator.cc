#include "lib/simulator/simulator.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "lib/simulator/local_files.h"
#include "lib/simulator/saved_state.h"

namespace interlock::simulator {
namespace {

constexpr Moment kLongestNap{60'000};
constexpr char kGarbage[] = "\x01\x02<not json";

std::string HttpDate(Instant instant) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", instant.ToTime(), absl::UTCTimeZone());
}

bool Electing(const World& world, const std::string& path) {
  if (world.leadership() == World::Leadership::kLeader) return false;
  if (absl::EndsWith(path, "/isLeader") || absl::EndsWith(path, "/leader")) return false;
  return absl::StartsWith(path, "/druid/indexer/") || absl::StartsWith(path, "/druid/coordinator/");
}

// What a standby answers, or one that leads and has not found out yet.
Reply ElectionReply(const World& world, const Request& request) {
  if (world.leadership() == World::Leadership::kUnavailable) {
    return Reply::ErrorPage(request, 503, "Service Unavailable");
  }
  Reply reply = Reply::Empty(307);
  reply.headers.emplace_back("Location", absl::StrCat("http://", request.host, request.target));
  return reply;
}

TaskFate FateOf(const Fault* fault) {
  if (fault == nullptr) return TaskFate::kHonest;
  switch (fault->kind) {
    case FaultKind::kStuckTask:
      return TaskFate::kStuck;
    case FaultKind::kFailedTask:
      return TaskFate::kFails;
    case FaultKind::kFailedButPublished:
      return TaskFate::kFailedButPublished;
    case FaultKind::kSuccessButNothing:
      return TaskFate::kSuccessButNothing;
    default:
      return TaskFate::kHonest;
  }
}

// What a fault does to a reply that is ready.
void Spoil(const Fault& fault, Delivery& delivery) {
  switch (fault.kind) {
    case FaultKind::kLostBefore:
    case FaultKind::kLostAfter:
    case FaultKind::kLate:
      delivery.way = Delivery::Way::kNothing;
      break;
    case FaultKind::kReset:
      delivery.way = Delivery::Way::kReset;
      break;
    case FaultKind::kStatus:
      delivery.reply = Reply::Text(fault.body, fault.status, fault.content_type);
      break;
    case FaultKind::kTruncate:
      delivery.way = Delivery::Way::kTruncated;
      delivery.bytes = static_cast<size_t>(
          fault.bytes.value_or(static_cast<int64_t>(delivery.reply.body.size() / 2)));
      break;
    case FaultKind::kGarbage:
      delivery.reply.body = fault.body.empty() ? kGarbage : fault.body;
      break;
    default:
      break;
  }
}

}  // namespace

Simulator::Simulator(SimulatorOptions options, Traits traits)
    : options_(std::move(options)),
      router_(DruidRoutes(traits)),
      world_(options_.world, std::move(traits)) {}

absl::StatusOr<std::unique_ptr<Simulator>> Simulator::Start(SimulatorOptions options) {
  absl::StatusOr<Traits> traits = TraitsOf(options.version);
  if (!traits.ok()) return traits.status();
  const int port = options.port;
  auto simulator =
      std::unique_ptr<Simulator>(new Simulator(std::move(options), *std::move(traits)));
  Simulator* self = simulator.get();
  absl::Status restored = self->Restore();
  if (!restored.ok()) return restored;
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(port, [self](const Request& request) { return self->Serve(request); });
  if (!server.ok()) return server.status();
  simulator->server_ = *std::move(server);
  if (self->options_.ticks_by_itself) self->ticker_ = std::thread([self] { self->RunTicker(); });
  return simulator;
}

Simulator::~Simulator() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (ticker_.joinable()) ticker_.join();
  if (server_ != nullptr) server_->StopListening();
}

std::string Simulator::address() const { return absl::StrCat("http://127.0.0.1:", port()); }

Reply Simulator::Ask(const std::string& method, const std::string& target, const std::string& body,
                     const std::string& accept) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(target, absl::MaxSplits('?', 1));
  Request request;
  request.method = method;
  request.SetTarget(parts.first, parts.second);
  request.host = absl::StrCat("127.0.0.1:", port());
  request.accept = accept;
  request.body = body;
  return Serve(request).reply;
}

absl::StatusOr<int> Simulator::AddFault(absl::string_view json) {
  MutexLock lock(mutex_);
  return faults_.Add(json, world_.segments);
}

void Simulator::ClearFaults() {
  MutexLock lock(mutex_);
  faults_.Clear();
}

std::vector<LoggedRequest> Simulator::Requests(int64_t since) {
  MutexLock lock(mutex_);
  return log_.Since(since);
}

void Simulator::WithWorld(const std::function<void(World&)>& look) {
  MutexLock lock(mutex_);
  Advance();
  look(world_);
}

absl::Status Simulator::Restore() {
  if (options_.state_file.empty()) return absl::OkStatus();
  if (options_.world.deep_storage.empty()) {
    return absl::InvalidArgumentError("a state file needs a folder for deep storage");
  }
  MutexLock lock(mutex_);
  Advance();
  const std::string saved = ReadFile(options_.state_file);
  return saved.empty() ? absl::OkStatus() : RestoreState(saved, world_);
}

// A state that can't be written is tried again with the next change.
void Simulator::Save() {
  if (options_.state_file.empty() || world_.revision() == saved_revision_) return;
  if (WriteWholeFile(options_.state_file, SaveState(world_)).ok()) {
    saved_revision_ = world_.revision();
  }
}

void Simulator::Advance() {
  const auto monotonic = std::chrono::duration_cast<Moment>(options_.clock->Monotonic());
  const Moment wall = skew_.advanced + skew_.wall;
  world_.AdvanceTo(monotonic + skew_.advanced,
                   options_.clock->Now() + absl::Milliseconds(wall.count()));
}

std::string Simulator::Date() const {
  return HttpDate(world_.now() + absl::Milliseconds(skew_.date.count()));
}

Delivery Simulator::Serve(const Request& request) {
  Delivery delivery;
  {
    MutexLock lock(mutex_);
    Advance();
    if (absl::StartsWith(request.path, "/simulator/")) {
      Backstage backstage{world_, faults_, log_, skew_};
      delivery.reply = ServeControl(backstage, request);
      Advance();
    } else {
      const Fault* fault = faults_.Meet(request);
      const Router::Match match = router_.Find(request.method, request.path);
      const bool write = match.handler != nullptr && match.effect == Router::Effect::kWrite;
      const int64_t number =
          log_.Begin(request, write, fault == nullptr ? "" : fault->kind_name, world_.now());
      delivery = fault == nullptr ? ServeDruid(request) : ServeFaulty(request, *fault, lock);
      const bool answered =
          delivery.way == Delivery::Way::kWhole || delivery.way == Delivery::Way::kTruncated;
      log_.End(number, answered ? delivery.reply.status : 0);
    }
    Save();
    delivery.date = Date();
  }
  wake_.NotifyAll();
  return delivery;
}

Delivery Simulator::ServeDruid(const Request& request) {
  Delivery delivery;
  if (world_.leadership() == World::Leadership::kRefused) {
    delivery.way = Delivery::Way::kNothing;
  } else {
    delivery.reply = Dispatch(request, nullptr);
  }
  return delivery;
}

// The fault may be cleared while the call waits: it is kept by value.
Delivery Simulator::ServeFaulty(const Request& request, const Fault& met, MutexLock& lock) {
  const Fault fault = met;
  Delivery delivery;
  if (fault.kind == FaultKind::kLate) {
    world_.Schedule(world_.tick() + fault.delay, [this, request]() INTERLOCK_REQUIRES(mutex_) {
      (void)Dispatch(request, nullptr);
    });
    Spoil(fault, delivery);
    return delivery;
  }
  const std::chrono::nanoseconds until = options_.clock->Monotonic() + fault.delay;
  while (options_.clock->Monotonic() < until && !stopping_) {
    (void)wake_.WaitFor(lock, until - options_.clock->Monotonic());
  }
  if (fault.delay > Moment(0)) Advance();
  if (fault.effect) delivery.reply = Dispatch(request, &fault);
  Spoil(fault, delivery);
  return delivery;
}

Reply Simulator::Dispatch(const Request& request, const Fault* fault) {
  if (Electing(world_, request.path)) return ElectionReply(world_, request);
  const Router::Match match = router_.Find(request.method, request.path);
  if (match.handler == nullptr) {
    if (match.path_known) return Reply::Empty(405);
    return absl::StartsWith(request.path, "/druid/") ? Reply::Empty(404)
                                                     : Reply::ErrorPage(request, 404, "Not Found");
  }
  Call call{world_, request, match.params, FateOf(fault),
            fault == nullptr ? nullptr : fault->snapshot.get()};
  return (*match.handler)(call);
}

void Simulator::Tick() {
  bool refused = false;
  {
    MutexLock lock(mutex_);
    Advance();
    Save();
    refused = world_.leadership() == World::Leadership::kRefused;
  }
  MutexLock lock(listening_mutex_);
  if (refused) {
    server_->StopListening();
  } else {
    // A port that somebody else took meanwhile is tried again at the next tick.
    (void)server_->StartListening();
  }
}

void Simulator::RunTicker() {
  while (true) {
    Tick();
    MutexLock lock(mutex_);
    if (stopping_) return;
    Advance();
    const Moment due = world_.NextDue().value_or(world_.tick() + kLongestNap);
    (void)wake_.WaitFor(lock, std::clamp(due - world_.tick(), Moment(1), kLongestNap));
    if (stopping_) return;
  }
}

}  // namespace interlock::simulator
