// A place where streams are watched: a store, a Druid of canned streams, and the watcher,
// on a clock that stands still until the test moves it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/druid/cluster.h"
#include "lib/guard/check_append.h"
#include "lib/guard/findings.h"
#include "lib/guard/rows.h"
#include "lib/guard/streams.h"
#include "lib/guard/watcher.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tails.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/status_reason.h"
#include "lib/work/steps.h"
#include "tests/lib/guard/streaming_druid.h"

namespace interlock::guard {

inline Instant At(const std::string& text) { return *Instant::Parse(text); }
inline Interval Of(const std::string& text) { return *Interval::Parse(text); }

inline constexpr char kLateHour[] = ",\"lateMessageRejectionPeriod\":\"PT1H\"";

class GuardSite {
 public:
  GuardSite() : clock_(At("2026-07-16T20:00:00.000Z")) {
    auto opened = store::OpenTemporarySqlite(
        {audit::AuditSchema(), work::WorkSchema(), lease::LeaseSchema(), GuardSchema()}, clock_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
    druid_ = std::make_shared<StreamingDruid>();
    druid::ClusterOptions to;
    to.coordinator = to.overlord = to.broker = {"http://druid:8081"};
    to.access = druid::Access::kManage;
    to.read_attempts = 1;
    cluster_ = std::make_unique<druid::Cluster>(to, druid_);
    Restart();
    EXPECT_TRUE(store_->Write(Watcher::Begin).ok());
  }

  // As if the process had been killed: all that is not stored is gone.
  void Restart() {
    watcher_ = std::make_unique<Watcher>(*store_, *cluster_, options);
    streams_ = std::make_unique<Streams>(*store_, *cluster_, options, nullptr);
  }

  StreamingDruid& druid() { return *druid_; }
  Streams& streams() { return *streams_; }
  store::Store& store() { return *store_; }
  FakeClock& clock() { return clock_; }
  druid::Cluster& cluster() { return *cluster_; }
  Options options;

  // Lets time pass to the next look, and has it done.
  void Look() {
    clock_.Advance(options.poll_every);
    auto claims = work::ClaimDue(*store_, clock_, {"worker", absl::Seconds(60)}, {kWorkKind}, 1);
    ASSERT_TRUE(claims.ok()) << claims.status();
    ASSERT_EQ(claims->size(), 1u);
    auto outcome = watcher_->Step(claims->front());
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ASSERT_TRUE(store_
                    ->Write([&](store::Transaction& tx) {
                      return work::Reschedule(tx, claims->front(), outcome->due);
                    })
                    .ok());
  }

  static audit::Caller Ada() { return {"ada", "", "because"}; }
  Streams::Told Registered(const Registration& registration) {
    auto told = streams_->Register(registration, false, Ada());
    EXPECT_TRUE(told.ok()) << told.status();
    return told.ok() ? *told : Streams::Told();
  }
  std::vector<Stream> All() {
    auto page = streams_->List("", 0, "");
    EXPECT_TRUE(page.ok()) << page.status();
    std::vector<Stream> streams;
    if (page.ok()) {
      for (auto& told : page->streams) streams.push_back(std::move(told.stream));
    }
    return streams;
  }
  // Open ones, by reason.
  std::vector<Finding> Findings(const std::string& reason) {
    std::vector<Finding> found;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto all = ListFindings(tx, "", true, 100);
                      found.clear();
                      if (!all.ok()) return all.status();
                      for (auto& one : *all) {
                        if (one.reason == reason) found.push_back(std::move(one));
                      }
                      return absl::OkStatus();
                    })
                    .ok());
    return found;
  }
  absl::StatusOr<lease::Grant> Reserve(const std::string& interval,
                                       lease::Mode mode = lease::Mode::kReplace) {
    lease::ReserveRequest request;
    request.datasource = "views";
    request.intervals = {Of(interval)};
    request.mode = mode;
    request.ttl = absl::Hours(10);
    request.holder = "backfill";
    request.purpose = "test";
    absl::StatusOr<lease::Grant> granted = lease::Grant();
    const absl::Status status = store_->Write([&](store::Transaction& tx) {
      granted = lease::Reserve(tx, request, Ada());
      return granted.status();
    });
    if (!status.ok()) return status;
    return granted;
  }

 private:
  FakeClock clock_;
  std::unique_ptr<store::Store> store_;
  std::shared_ptr<StreamingDruid> druid_;
  std::unique_ptr<druid::Cluster> cluster_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<Streams> streams_;
};

}  // namespace interlock::guard
