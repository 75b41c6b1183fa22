#include "tests/lib/backfill/backfill_site.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/audit/audit.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/json_document.h"
#include "lib/druid/timeline.h"
#include "lib/guard/rows.h"
#include "lib/lease/reservations.h"
#include "lib/time/reason.h"

namespace interlock::backfill {
namespace {

constexpr char kDatasource[] = "clicks";
constexpr int kLateBy = 3;

druid::HttpReply Broken(const char* why) {
  druid::HttpReply reply;
  reply.exchange = druid::HttpReply::Exchange::kBroken;
  reply.error = why;
  return reply;
}

std::string SpecOver(int from, int to, const std::string& source) {
  return absl::StrFormat(
      R"({"type":"index_parallel","spec":{"dataSchema":{"dataSource":"%s",
        "timestampSpec":{"column":"ts","format":"iso"},"dimensionsSpec":{"dimensions":["page"]},
        "metricsSpec":[{"type":"count","name":"events"},
                       {"type":"longSum","name":"n","fieldName":"n"}],
        "granularitySpec":{"type":"uniform","segmentGranularity":"HOUR",
          "queryGranularity":"MINUTE","rollup":true,
          "intervals":["%s/%s"]}},
      "ioConfig":{"type":"index_parallel","inputSource":%s,"inputFormat":{"type":"json"},
        "appendToExisting":false,"dropExisting":true},
      "tuningConfig":{"type":"index_parallel"}}})",
      kDatasource, Hour(from).start().ToString(), Hour(to).start().ToString(), source);
}

std::string Lines(int hour, int rows) {
  std::string lines;
  for (int i = 0; i < rows; ++i) absl::StrAppend(&lines, Line(hour, i % 60, i), "\n");
  return lines;
}

}  // namespace

Interval Hour(int hour) {
  const Instant day = *Instant::Parse("2026-07-16T00:00:00Z");
  return *Interval::Of(day + absl::Hours(hour), day + absl::Hours(hour + 1));
}

std::string Line(int hour, int minute, int n) {
  return absl::StrFormat(R"({"ts":"2026-07-16T%02d:%02d:00Z","page":"p%d","n":%d})", hour, minute,
                         n % 7, n);
}

druid::HttpReply SpoiledTransport::Deliver(const druid::HttpRequest& request) {
  const size_t scheme = request.url.find("//");
  const std::string target = request.url.substr(request.url.find('/', scheme + 2));
  if (request.method == "POST" && absl::EndsWith(target, "/druid/indexer/v1/task")) {
    posts_.push_back(request.body);
  }
  const simulator::Reply answer = simulator_.Ask(request.method, target, request.body);
  druid::HttpReply reply;
  reply.exchange = druid::HttpReply::Exchange::kWhole;
  reply.status = answer.status;
  reply.content_type = answer.content_type;
  reply.body = answer.body;
  reply.date =
      absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", clock_.Now().ToTime(), absl::UTCTimeZone());
  for (const auto& [name, value] : answer.headers) {
    if (name == "Location") reply.location = value;
  }
  return reply;
}

druid::HttpReply SpoiledTransport::Send(const druid::HttpRequest& request) {
  ++exchanges_;
  if (const auto before = before_) before(request);
  std::vector<std::pair<int64_t, druid::HttpRequest>> waiting;
  waiting.swap(late_);
  for (auto& [due, late] : waiting) {
    if (due <= exchanges_) {
      Deliver(late);
    } else {
      late_.emplace_back(due, std::move(late));
    }
  }
  const Spoil spoil = spoil_ ? spoil_(exchanges_, request) : Spoil::kNot;
  druid::HttpReply reply;
  switch (spoil) {
    case Spoil::kUnreachable:
      reply.error = "connection refused";
      return reply;
    case Spoil::kLostBefore:
      return Broken("reset before");
    case Spoil::kLate:
      late_.emplace_back(exchanges_ + kLateBy, request);
      return Broken("timed out");
    case Spoil::kServerError:
      reply.exchange = druid::HttpReply::Exchange::kWhole;
      reply.status = 500;
      return reply;
    default:
      reply = Deliver(request);
  }
  if (const auto after = after_) after(request);
  if (spoil == Spoil::kLostAfter) return Broken("reset after");
  if (spoil == Spoil::kErrorAfter) {
    reply.status = 500;
    reply.body.clear();
  }
  if (spoil == Spoil::kEmpty) reply.body = "{}";
  if (spoil == Spoil::kGarbage) reply.body = "<html>{\"task\":";
  if (request.on_body && reply.status / 100 == 2) {
    const std::string body = std::move(reply.body);
    reply.body.clear();
    request.on_body(body);
  }
  return reply;
}

Options BackfillSite::SiteOptions() {
  Options options;
  options.settle_time = absl::Seconds(1);
  options.row_patience = absl::Seconds(5);
  options.slow_look = absl::Seconds(2);
  options.blocked_every = absl::Seconds(1);
  return options;
}

BackfillSite::BackfillSite(Options options, bool supervisor_ids) : options_(std::move(options)) {
  std::string name = (std::filesystem::temp_directory_path() / "backfill-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  simulator::SimulatorOptions druid;
  druid.clock = &clock_;
  druid.ticks_by_itself = false;
  druid.world.task_duration = simulator::Moment{200};
  druid.world.load_delay = simulator::Moment{300};
  druid.world.worker_slots = 8;
  druid.world.supervisor_ids = supervisor_ids;
  simulator_ = *simulator::Simulator::Start(druid);
  transport_ = std::make_shared<SpoiledTransport>(*simulator_, clock_);
  druid::ClusterOptions cluster;
  cluster.router = {"http://simulator:8888"};
  cluster.access = druid::Access::kManage;
  cluster_ = std::make_unique<druid::Cluster>(cluster, transport_);
  Open();
}

BackfillSite::~BackfillSite() {
  retire_worker_.reset();
  watcher_.reset();
  handover_worker_.reset();
  rollback_worker_.reset();
  runner_.reset();
  backfills_.reset();
  store_.reset();
  std::error_code gone;
  std::filesystem::remove_all(folder_, gone);
}

void BackfillSite::Open() {
  store::SqliteOptions options;
  options.path = folder_ + "/store.db";
  options.schemas = {audit::AuditSchema(), work::WorkSchema(),   lease::LeaseSchema(),
                     BackfillSchema(),     guard::GuardSchema(), HandoverSchema()};
  options.durable = false;
  auto opened = store::OpenSqlite(options, clock_);
  EXPECT_TRUE(opened.ok()) << opened.status();
  store_ = *std::move(opened);
  EXPECT_TRUE(store_->Write([](store::Transaction& tx) { return work::ForgetClaims(tx); }).ok());
  backfills_ = std::make_unique<Backfills>(*store_, *cluster_, options_, changes_, nullptr);
  runner_ =
      std::make_unique<Runner>(Runner::World{*store_, *cluster_, runners_clock_, changes_},
                               options_, [this] { return absl::StrCat("nonce-", ++nonces_); });
  const Runner::World world{*store_, *cluster_, runners_clock_, changes_};
  rollback_worker_ = std::make_unique<RollbackWorker>(world, options_);
  retire_worker_ = std::make_unique<RetireWorker>(world, options_);
  handover_worker_ = std::make_unique<HandoverWorker>(world, options_);
  watcher_ = std::make_unique<guard::Watcher>(*store_, *cluster_, options_.guard);
}

void BackfillSite::Restart() {
  retire_worker_.reset();
  watcher_.reset();
  handover_worker_.reset();
  rollback_worker_.reset();
  runner_.reset();
  backfills_.reset();
  store_.reset();
  Open();
}

void BackfillSite::Pass(absl::Duration duration) {
  clock_.Advance(duration);
  simulator_->Tick();
}

absl::StatusOr<work::Outcome> BackfillSite::StepOf(work::Claim& claim) {
  if (claim.kind == kWorkKind) return runner_->Step(claim);
  if (claim.kind == kHandoverKind) return handover_worker_->Step(claim);
  if (claim.kind == guard::kWorkKind) return watcher_->Step(claim);
  if (claim.kind == kRetireWorkKind) return retire_worker_->Step(claim);
  return rollback_worker_->Step(claim);
}

void BackfillSite::WatchStreams() {
  const absl::Status begun = store_->Write(guard::Watcher::Begin);
  EXPECT_TRUE(begun.ok()) << begun;
}

bool BackfillSite::StepOnce() {
  auto claims = work::ClaimDue(
      *store_, clock_, {"test", absl::Seconds(60)},
      {kWorkKind, kRollbackWorkKind, kRetireWorkKind, kHandoverKind, guard::kWorkKind}, 1);
  EXPECT_TRUE(claims.ok()) << claims.status();
  if (!claims.ok() || claims->empty()) return false;
  work::Claim& claim = claims->front();
  const auto outcome = StepOf(claim);
  if (ReasonOf(outcome.status()) == "CLAIM_LOST") return true;
  absl::Status status = store_->Write([&](store::Transaction& tx) -> absl::Status {
    if (!outcome.ok()) return work::Retry(tx, claim, tx.now() + absl::Seconds(1));
    if (outcome->kind == work::Outcome::Kind::kNextDue) {
      return work::Reschedule(tx, claim, outcome->due);
    }
    if (outcome->kind == work::Outcome::Kind::kFinished) return work::Finish(tx, claim);
    return absl::OkStatus();
  });
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(status.ok()) << status;
  return true;
}

Backfills::Detail BackfillSite::RunUntilOver(const std::string& id, absl::Duration longest) {
  const Instant end = clock_.Now() + longest;
  while (clock_.Now() < end) {
    while (StepOnce()) {
    }
    auto detail = backfills_->Get(id);
    EXPECT_TRUE(detail.ok()) << detail.status();
    if (!detail.ok() || IsOver(detail->backfill.phase) ||
        detail->backfill.phase == Phase::kNeedsAttention) {
      return *detail;
    }
    Pass(absl::Milliseconds(100));
  }
  return *backfills_->Get(id);
}

void BackfillSite::Load(int hour, int rows) {
  rapidjson::Document task;
  task.Parse(InlineSpec(hour, hour + 1, rows));
  const std::string id = absl::StrCat("load-", hour, "-", rows, "-", clock_.Now().millis());
  task.AddMember("id", rapidjson::Value(id, task.GetAllocator()), task.GetAllocator());
  const auto answer = cluster_->SubmitTask(WriteJson(task));
  EXPECT_TRUE(answer.done()) << answer.text();
  for (int i = 0; i < 30; ++i) Pass(absl::Milliseconds(100));
}

int64_t BackfillSite::Rows(int hour) {
  const auto sums = cluster_->SumRows(kDatasource, {Hour(hour)}, {"events"});
  EXPECT_TRUE(sums.done()) << sums.text();
  return sums.done() ? static_cast<int64_t>(sums.value()[0].sums.at("events")) : -1;
}

std::string BackfillSite::Version(int hour) {
  const auto used = cluster_->ListUsedSegments(kDatasource, {Hour(hour)});
  EXPECT_TRUE(used.done()) << used.text();
  const auto timeline = druid::Timeline::Of(used.value());
  std::string versions;
  for (const druid::Slice& slice : timeline.Visible(Hour(hour))) {
    absl::StrAppend(&versions, slice.version);
  }
  return versions;
}

std::vector<std::string> BackfillSite::OurTasks() {
  std::vector<std::string> tasks;
  const simulator::Reply state = simulator_->Ask("GET", "/simulator/state");
  rapidjson::Document document;
  document.Parse(state.body);
  if (!document.IsObject() || !document.HasMember("tasks")) return tasks;
  for (const auto& task : document["tasks"].GetArray()) {
    const std::string id = task["id"].GetString();
    const std::string type = task.HasMember("type") ? task["type"].GetString() : "";
    if (absl::StartsWith(id, "il-") && type != "noop") tasks.push_back(id);
  }
  return tasks;
}

std::vector<StoredPartition> BackfillSite::Partitions(const std::string& id) {
  auto page = backfills_->ListPartitions(id, {}, kMaxPageSize, "");
  EXPECT_TRUE(page.ok()) << page.status();
  return page->partitions;
}

std::vector<lease::Held> BackfillSite::Held(const Interval& interval) {
  std::vector<lease::Held> held;
  absl::Status status = store_->Read([&](store::Transaction& tx) {
    auto found = lease::FindHeld(tx, kDatasource, lease::Mode::kReplace, {interval});
    if (found.ok()) held = *found;
    return found.status();
  });
  EXPECT_TRUE(status.ok()) << status;
  return held;
}

std::string BackfillSite::InlineSpec(int from, int to, int rows_an_hour) {
  std::string lines;
  for (int hour = from; hour < to; ++hour) absl::StrAppend(&lines, Lines(hour, rows_an_hour));
  return SpecOver(from, to, absl::StrCat(R"({"type":"inline","data":)", JsonQuoted(lines), "}"));
}

std::string BackfillSite::WipingSpec(int hour) {
  return SpecOver(hour, hour + 1,
                  absl::StrCat(R"({"type":"inline","data":)",
                               JsonQuoted(absl::StrCat(Lines(hour + 5, 2), "no row\n")), "}"));
}

std::string BackfillSite::FilesSpec(int from, int to, int rows_an_hour) {
  for (int hour = from; hour < to; ++hour) {
    const std::string folder = absl::StrFormat("%s/input/h=%02d", folder_, hour);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/rows.json") << Lines(hour, rows_an_hour);
  }
  return SpecOver(from, to,
                  absl::StrCat(R"({"type":"local","baseDir":")", folder_,
                               R"(/input/h={start:%H}","filter":"*.json"})"));
}

std::string BackfillSite::Submit(const std::string& spec, const std::string& request_id) {
  BackfillRequest request;
  request.spec = spec;
  const auto submitted = backfills_->Submit(request, Caller(request_id));
  EXPECT_TRUE(submitted.ok()) << submitted.status();
  return submitted.ok() ? submitted->backfill.id : "";
}

}  // namespace interlock::backfill
