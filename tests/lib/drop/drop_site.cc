#include "tests/lib/drop/drop_site.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/druid/curl_transport.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/work/steps.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::drop {

class DropSite::Hooked : public druid::HttpTransport {
 public:
  explicit Hooked(DropSite& site) : site_(site), curl_(druid::CurlTransportOptions()) {}
  druid::HttpReply Send(const druid::HttpRequest& request) override {
    // Copies: what is called may put another in its place.
    const auto before_send = site_.before_send;
    if (before_send) before_send(request);
    const auto fate_of = site_.fate;
    const Fate fate = fate_of ? fate_of(request) : Fate::kGood;
    druid::HttpReply reply;
    if (fate != Fate::kTimesOutBefore) reply = curl_.Send(request);
    if (fate != Fate::kGood) reply = TimedOut();
    const auto after_reply = site_.after_reply;
    if (after_reply) after_reply(request);
    return reply;
  }

 private:
  druid::HttpReply TimedOut() {
    site_.Pass(kCallDeadline);
    druid::HttpReply reply;
    reply.exchange = druid::HttpReply::Exchange::kBroken;
    reply.error = "the deadline passed";
    return reply;
  }

  DropSite& site_;
  druid::CurlTransport curl_;
};

DropSite::DropSite(Options options, const std::string& version)
    : options_(std::move(options)), clock_(At("2026-08-20T12:00Z")) {
  static int sites = 0;
  folder_ = std::filesystem::temp_directory_path() /
            absl::StrCat("interlock-drop-", ::getpid(), "-", ++sites);
  std::filesystem::create_directories(folder_);
  StartDruid(version);
  auto opened = store::OpenTemporarySqlite(
      {audit::AuditSchema(), lease::LeaseSchema(), work::WorkSchema(), DropSchema()}, clock_);
  EXPECT_TRUE(opened.ok()) << opened.status();
  store_ = std::move(*opened);
  Restart();
}

DropSite::~DropSite() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void DropSite::Restart() {
  drops_ = std::make_unique<Drops>(*store_, *cluster_, clock_, options_, nullptr);
  WorkerOptions own;
  own.call_deadline = kCallDeadline;
  own.nonce = [this] { return absl::StrCat("nonce-", ++nonces_); };
  own.probe = std::make_shared<LocalProbe>(std::vector<std::string>{folder_.string()});
  own.on_kill_failure = [this](const Drop&, const std::string& why) {
    kill_failures.push_back(why);
  };
  own.on_foreign_change = [this](const Drop&, const std::string& why) {
    foreign_changes.push_back(why);
  };
  worker_ = std::make_unique<Worker>(*store_, *cluster_, clock_, options_, own);
  retention_ = std::make_unique<RetentionPolicies>(*store_, *cluster_, clock_, *drops_, nullptr);
  EXPECT_TRUE(store_->Write(work::ForgetClaims).ok());
}

void DropSite::Load(int first, int end, int n, const std::string& datasource, bool append) {
  druid::BatchTask task;
  task.id = absl::StrCat("load-", ++loads_);
  task.datasource = datasource;
  task.interval = druid::Hours(first, end);
  task.append = append;
  task.drop = !append;
  for (int hour = first; hour < end; ++hour) task.events.push_back({hour, "a", n + hour});
  const auto submitted = cluster_->SubmitTask(task.Json());
  ASSERT_TRUE(submitted.done()) << submitted.text();
  Pass(absl::Seconds(5));
  const auto status = cluster_->GetTaskStatus(task.id);
  ASSERT_TRUE(status.done()) << status.text();
  ASSERT_EQ(status.value().state, druid::TaskState::kSuccess) << status.value().error;
}

void DropSite::Start(const std::string& id, int hour) {
  druid::BatchTask task;
  task.id = id;
  task.datasource = kClicks;
  task.interval = druid::Hour(hour);
  task.append = true;
  task.drop = false;
  task.events.push_back({hour, "a", 1});
  const auto submitted = cluster_->SubmitTask(task.Json());
  ASSERT_TRUE(submitted.done()) << submitted.text();
  simulator_->Tick();
}

void DropSite::Pass(absl::Duration by) {
  clock_.Advance(by);
  simulator_->Tick();
}

std::vector<std::string> DropSite::UsedIds(const std::string& datasource) {
  std::vector<std::string> ids;
  simulator_->WithWorld([&](simulator::World& world) {
    for (const auto* segment : world.segments.Used(datasource)) ids.push_back(segment->id);
  });
  return ids;
}

std::vector<std::string> DropSite::UnusedIds(const std::string& datasource) {
  std::vector<std::string> ids;
  simulator_->WithWorld([&](simulator::World& world) {
    for (const auto* segment : world.segments.Unused(datasource)) ids.push_back(segment->id);
  });
  return ids;
}

void DropSite::Mark(const std::string& id, bool used) {
  simulator_->WithWorld([&](simulator::World& world) {
    simulator::Segment* segment = world.segments.Find(kClicks, id);
    ASSERT_NE(segment, nullptr) << id;
    world.segments.Mark(*segment, used, world.now());
    world.SegmentsChanged(kClicks);
  });
}

int64_t DropSite::Rows(const std::string& interval) {
  const auto sums = cluster_->SumRows(kClicks, {Of(interval)}, {"n"});
  EXPECT_TRUE(sums.done()) << sums.text();
  return sums.done() ? sums.value().front().rows : -1;
}

std::vector<std::string> DropSite::Sent(const std::string& path_part) {
  std::vector<std::string> bodies;
  for (const auto& request : simulator_->Requests()) {
    if (request.write && request.path.find(path_part) != std::string::npos) {
      bodies.push_back(request.body);
    }
  }
  return bodies;
}

int DropSite::FilesLeft() const {
  int files = 0;
  if (!std::filesystem::exists(segments_folder())) return 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(segments_folder())) {
    if (entry.is_regular_file()) ++files;
  }
  return files;
}

audit::Caller DropSite::Ada(const std::string& request_id, const std::string& why) {
  return {"ada", request_id, why};
}

DropRequest DropSite::Request(const std::string& interval) {
  DropRequest request;
  request.datasource = kClicks;
  request.intervals = {Of(interval)};
  return request;
}

Drop DropSite::Submitted(const DropRequest& request, const audit::Caller& caller) {
  const auto submitted = drops_->Submit(request, caller);
  EXPECT_TRUE(submitted.ok()) << submitted.status();
  return submitted.ok() ? submitted->drop : Drop();
}

Drop DropSite::Now(const std::string& id) {
  const auto drop = drops_->Get(id);
  EXPECT_TRUE(drop.ok()) << drop.status();
  return drop.ok() ? *drop : Drop();
}

bool DropSite::DoOneDue() {
  auto claims = work::ClaimDue(*store_, clock_, {"worker", absl::Seconds(60)},
                               {kWorkKind, kRetentionKind}, 1);
  EXPECT_TRUE(claims.ok()) << claims.status();
  if (!claims.ok() || claims->empty()) return false;
  work::Claim claim = claims->front();
  absl::StatusOr<work::Outcome> outcome = work::Outcome::Settled();
  try {
    outcome = claim.kind == kWorkKind ? worker_->Step(claim) : retention_->Step(claim);
  } catch (const Crash&) {
    Restart();
    return true;
  }
  last_error = outcome.status();
  const absl::Status settled = store_->Write([&](store::Transaction& tx) {
    if (!outcome.ok()) return work::Retry(tx, claim, tx.now() + absl::Seconds(1));
    switch (outcome->kind) {
      case work::Outcome::Kind::kNextDue:
        return work::Reschedule(tx, claim, outcome->due);
      case work::Outcome::Kind::kFinished:
        return work::Finish(tx, claim);
      default:
        return absl::OkStatus();
    }
  });
  EXPECT_TRUE(settled.ok()) << settled;
  if (after_step) after_step();
  return true;
}

bool DropSite::PassToNextDue(Instant end) {
  std::optional<Instant> due;
  EXPECT_TRUE(store_
                  ->Read([&](store::Transaction& tx) {
                    auto found = work::NextDue(tx, {kWorkKind, kRetentionKind});
                    if (found.ok()) due = *found;
                    return found.status();
                  })
                  .ok());
  if (!due || *due > end) return false;
  Pass(std::max(*due - store_->Now(), absl::Milliseconds(1)));
  return true;
}

bool DropSite::RunUntil(const std::string& id, const std::function<bool(const Drop&)>& wanted,
                        absl::Duration at_most) {
  const Instant end = clock_.Now() + at_most;
  for (int steps = 0; steps < 3'000; ++steps) {
    if (wanted(Now(id))) return true;
    if (DoOneDue()) continue;
    if (!PassToNextDue(end)) return wanted(Now(id));
  }
  ADD_FAILURE() << id << " never comes to rest: " << Now(id).state << " " << Now(id).message;
  return false;
}

void DropSite::RunFor(absl::Duration time) {
  const Instant end = clock_.Now() + time;
  for (int steps = 0; steps < 3'000; ++steps) {
    if (DoOneDue()) continue;
    if (!PassToNextDue(end)) break;
  }
  if (clock_.Now() < end) Pass(end - clock_.Now());
}

bool DropSite::RunTo(const std::string& id, State state, absl::Duration at_most) {
  const bool reached = RunUntil(
      id, [&](const Drop& drop) { return drop.state == state; }, at_most);
  const Drop drop = Now(id);
  EXPECT_EQ(drop.state, state) << drop.hold << " " << drop.message << " " << last_error;
  return reached && drop.state == state;
}

void DropSite::StartDruid(const std::string& version) {
  simulator::SimulatorOptions options;
  options.version = version;
  options.clock = &clock_;
  options.ticks_by_itself = false;
  options.world.deep_storage = segments_folder().string();
  auto started = simulator::Simulator::Start(options);
  ASSERT_TRUE(started.ok()) << started.status();
  simulator_ = std::move(*started);
  druid::ClusterOptions to;
  to.coordinator = to.overlord = to.broker = {simulator_->address()};
  to.access = druid::Access::kManage;
  to.read_attempts = 1;
  to.call_deadline = std::chrono::milliseconds(absl::ToInt64Milliseconds(kCallDeadline));
  cluster_ = std::make_unique<druid::Cluster>(to, std::make_shared<Hooked>(*this));
}

}  // namespace interlock::drop
