// Seals on a real Druid (or whichever the environment names): a day that was given out, a
// voucher that comes late, and somebody who writes past Interlock.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/seal/corrections.h"
#include "lib/seal/rows.h"
#include "lib/seal/seals.h"
#include "lib/store/sqlite.h"
#include "lib/time/clock.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::seal {
namespace {

using druid::Hour;
using druid::Hours;
using ::testing::IsEmpty;

class SealOnDruid : public druid::DruidAtHand {
 public:
  void SetUp() override {
    DruidAtHand::SetUp();
    if (HasFatalFailure()) return;
    auto opened = store::OpenTemporarySqlite({audit::AuditSchema(), SealSchema()}, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
    Options options;
    options.holders = [](store::Transaction&, const std::string&, const Interval&) {
      return absl::StatusOr<std::vector<Holder>>(std::vector<Holder>());
    };
    options.compacted = [](const std::string&) { return absl::StatusOr<bool>(false); };
    seals_ = std::make_unique<Seals>(*store_, cluster(), options);
    corrections_ = std::make_unique<Corrections>(*store_, cluster());
  }

  void Load(const std::string& what, const std::string& datasource,
            const std::vector<druid::Event>& events, const Interval& interval) {
    druid::BatchTask task;
    task.id = TaskId(what);
    task.datasource = datasource;
    task.interval = interval;
    task.events = events;
    const auto status = Run(task.Json());
    ASSERT_EQ(status.state, druid::TaskState::kSuccess) << status.error;
    WaitUntil("its rows are served", [&] {
      const auto load = cluster().GetLoadStatus(datasource, interval, true);
      return load.done() && load.value().any_used && load.value().unavailable_segments == 0;
    });
  }
  SealRequest Request() {
    SealRequest request;
    request.datasource = datasource();
    request.interval = Hours(13, 15);
    request.label = "report 7";
    // SQL with dimensions is beyond the simulator.
    if (!simulated()) request.snapshot.dimensions = {"page"};
    request.snapshot.aggregates = {{"total", "SUM(\"n\")"}};
    return request;
  }
  // The broker learns of a new datasource's columns a moment after it is served.
  Seal SealWhenItCan() {
    absl::StatusOr<Sealed> sealed = absl::UnknownError("");
    WaitUntil("the seal is taken", [&] {
      sealed = seals_->SealInterval(Request(), {"ada", "", "sent to the tax office"});
      return sealed.ok();
    });
    EXPECT_TRUE(sealed.ok()) << sealed.status();
    return sealed.ok() ? sealed->seal : Seal();
  }
  Seals::Looked Look(const std::string& id) {
    auto looked = seals_->Look(id, absl::Minutes(15));
    EXPECT_TRUE(looked.ok()) << looked.status();
    return looked.ok() && looked->has_value() ? **looked : Seals::Looked();
  }

 protected:
  SystemClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<Seals> seals_;
  std::unique_ptr<Corrections> corrections_;
};

TEST_F(SealOnDruid, ALateVoucherIsACorrectionAndTheSealedDigestsAreAsTheyWere) {
  Load("first", datasource(), {{13, "a", 5}, {13, "b", 2}, {14, "a", 1}}, Hours(13, 15));
  const Seal seal = SealWhenItCan();
  ASSERT_NE(seal.id, "");
  const std::string side = seal.corrections_datasource;
  Load("late", side, {{13, "a", 5}, {13, "b", 2}, {13, "b", 40}}, Hour(13));
  Correcting correcting;
  correcting.backfill_id = "bf-1";
  correcting.datasource = datasource();
  correcting.requested_by = "ada";
  correcting.reason = "a voucher of 40 came late";
  correcting.corrections_datasource = side;
  absl::StatusOr<Corrections::Stored> stored = absl::UnknownError("");
  WaitUntil("the difference is stored", [&] {
    stored = corrections_->Store(correcting, {{Hour(13)}, "", 0});
    return stored.ok();
  });
  ASSERT_TRUE(stored.ok()) << stored.status();
  ASSERT_EQ(stored->corrections.size(), 1u);
  const Correction& correction = stored->corrections[0];
  ASSERT_EQ(correction.deltas.size(), 1u);
  const Delta& delta = correction.deltas[0];
  if (!simulated()) {
    EXPECT_EQ(delta.key.at("page"), "b");
  }
  ASSERT_TRUE(delta.was && delta.is_now);
  EXPECT_EQ(delta.was->AsDouble(), simulated() ? 7 : 2);
  EXPECT_EQ(delta.is_now->AsDouble(), simulated() ? 47 : 42);
  EXPECT_EQ(delta.delta.AsDouble(), 40);
  EXPECT_THAT(stored->broken_seals, IsEmpty());
  const Seal after = Look(seal.id).seal;
  EXPECT_EQ(after.integrity, Integrity::kIntact);
  EXPECT_EQ(after.ids_digest, seal.ids_digest);
  EXPECT_EQ(after.content_digest, seal.content_digest);
  // "What did we send": the sealed hour reads as it did.
  ExpectRows(Hour(13), 2);
}

TEST_F(SealOnDruid, ARewriteIsToldFromAChange) {
  Load("first", datasource(), {{13, "a", 5}, {14, "a", 1}}, Hours(13, 15));
  const Seal seal = SealWhenItCan();
  Load("again", datasource(), {{13, "a", 5}}, Hour(13));
  EXPECT_EQ(Look(seal.id).seal.integrity, Integrity::kRewritten);
  Load("other", datasource(), {{13, "a", 6}}, Hour(13));
  EXPECT_EQ(Look(seal.id).seal.integrity, Integrity::kBroken);
}

// The same total, by another page: only a snapshot by page sees it.
TEST_F(SealOnDruid, AValueThatMovedToAnotherGroupIsAChange) {
  if (simulated()) GTEST_SKIP() << "the simulator's SQL knows no GROUP BY";
  Load("first", datasource(), {{13, "a", 5}, {14, "a", 1}}, Hours(13, 15));
  const Seal seal = SealWhenItCan();
  Load("moved", datasource(), {{13, "b", 5}}, Hour(13));
  EXPECT_EQ(Look(seal.id).seal.integrity, Integrity::kBroken);
}

}  // namespace
}  // namespace interlock::seal
