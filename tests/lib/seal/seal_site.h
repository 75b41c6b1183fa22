// A place where seals are: a store and a simulated Druid behind real HTTP, on one clock
// that stands still until the test moves it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/druid/cluster.h"
#include "lib/druid/curl_transport.h"
#include "lib/seal/corrections.h"
#include "lib/seal/policies.h"
#include "lib/seal/rows.h"
#include "lib/seal/seals.h"
#include "lib/simulator/simulator.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/status_reason.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::seal {

inline constexpr char kOrders[] = "orders";
inline constexpr absl::Duration kEvery = absl::Minutes(15);

inline audit::Caller Ada(const std::string& why = "report 7", const std::string& request_id = "") {
  return {"ada", request_id, why};
}

class SealTest : public ::testing::Test {
 protected:
  SealTest() : clock_(*Instant::Parse("2026-08-20T12:00Z")) {
    static int sites = 0;
    folder_ = std::filesystem::temp_directory_path() /
              absl::StrCat("interlock-seal-", ::getpid(), "-", ++sites);
    std::filesystem::create_directories(folder_);
    simulator::SimulatorOptions options;
    options.clock = &clock_;
    options.ticks_by_itself = false;
    options.world.deep_storage = (folder_ / "segments").string();
    auto started = simulator::Simulator::Start(std::move(options));
    EXPECT_TRUE(started.ok()) << started.status();
    simulator_ = *std::move(started);
    druid::ClusterOptions cluster;
    cluster.coordinator = cluster.overlord = cluster.broker = {simulator_->address()};
    cluster.access = druid::Access::kManage;
    cluster.read_attempts = 1;
    cluster_ = std::make_unique<druid::Cluster>(
        std::move(cluster), std::make_shared<druid::CurlTransport>(druid::CurlTransportOptions{}));
    store_ = *store::OpenTemporarySqlite({audit::AuditSchema(), SealSchema()}, clock_);
    Options own;
    own.holders = [this](store::Transaction&, const std::string&,
                         const Interval&) -> absl::StatusOr<std::vector<Holder>> {
      return holders_;
    };
    own.compacted = [this](const std::string&) -> absl::StatusOr<bool> { return compacted_; };
    seals_ = std::make_unique<Seals>(*store_, *cluster_, own);
    corrections_ = std::make_unique<Corrections>(*store_, *cluster_);
  }
  ~SealTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // Rows of these hours by a task: one of `n` in each; what was there is replaced.
  void Load(int first, int end, int n, const std::string& datasource = kOrders,
            bool append = false) {
    druid::BatchTask task;
    task.id = absl::StrCat("load-", ++loads_);
    task.datasource = datasource;
    task.interval = druid::Hours(first, end);
    task.append = append;
    task.drop = !append;
    for (int hour = first; hour < end; ++hour) task.events.push_back({hour, "a", n});
    const auto submitted = cluster_->SubmitTask(task.Json());
    ASSERT_TRUE(submitted.done()) << submitted.text();
    clock_.Advance(absl::Seconds(5));
    simulator_->Tick();
    const auto status = cluster_->GetTaskStatus(task.id);
    ASSERT_TRUE(status.done()) << status.text();
    ASSERT_EQ(status.value().state, druid::TaskState::kSuccess) << status.value().error;
  }
  static SealRequest Request(int first, int end) {
    SealRequest request;
    request.datasource = kOrders;
    request.interval = druid::Hours(first, end);
    request.label = "2026-07";
    return request;
  }
  Seal Sealed(int first, int end) {
    auto sealed = seals_->SealInterval(Request(first, end), Ada());
    EXPECT_TRUE(sealed.ok()) << sealed.status();
    return sealed.ok() ? sealed->seal : Seal();
  }
  std::vector<std::string> Barring(int first, int end) {
    std::vector<std::string> ids;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto seals = Barred(tx, kOrders, druid::Hours(first, end));
                      if (!seals.ok()) return seals.status();
                      for (const Seal& seal : *seals) ids.push_back(seal.id);
                      return absl::OkStatus();
                    })
                    .ok());
    return ids;
  }
  Seals::Looked Look(const std::string& id) {
    auto looked = seals_->Look(id, kEvery);
    EXPECT_TRUE(looked.ok()) << looked.status();
    return looked.ok() && looked->has_value() ? **looked : Seals::Looked();
  }
  std::vector<std::string> Methods() {
    std::vector<std::string> methods;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto events = audit::List(tx, {}, {100, 0, true});
                      if (!events.ok()) return events.status();
                      for (const auto& event : events->events) {
                        methods.push_back(event.event.method);
                      }
                      return absl::OkStatus();
                    })
                    .ok());
    return methods;
  }

  FakeClock clock_;
  std::filesystem::path folder_;
  std::unique_ptr<simulator::Simulator> simulator_;
  std::unique_ptr<druid::Cluster> cluster_;
  std::unique_ptr<store::SqliteStore> store_;
  std::vector<Holder> holders_;
  bool compacted_ = false;
  std::unique_ptr<Seals> seals_;
  std::unique_ptr<Corrections> corrections_;
  int loads_ = 0;
};

}  // namespace interlock::seal
