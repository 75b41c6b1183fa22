#include "lib/seal/corrections.h"

#include "gmock/gmock.h"
#include "tests/lib/seal/seal_site.h"

namespace interlock::seal {
namespace {

using druid::Hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSide[] = "orders__corrections";

class CorrectionTest : public SealTest {
 protected:
  Corrections::Stored Store(const std::string& backfill, int first, int end) {
    Correcting correcting;
    correcting.backfill_id = backfill;
    correcting.datasource = kOrders;
    correcting.requested_by = "ada";
    correcting.reason = "a late voucher";
    correcting.corrections_datasource = kSide;
    EXPECT_TRUE(corrections_->Begin(correcting).ok());
    auto stored = corrections_->Store(correcting, {{Hours(first, end)}, "daily", 7});
    EXPECT_TRUE(stored.ok()) << stored.status();
    return stored.ok() ? *stored : Corrections::Stored();
  }
  Corrections::Page List(const CorrectionFilter& filter = {}, int64_t size = 0,
                         const std::string& token = "") {
    auto page = corrections_->List(filter, size, token);
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? *page : Corrections::Page();
  }
};

const Value* Of(const std::vector<Delta>& deltas, const std::string& metric) {
  for (const Delta& delta : deltas) {
    if (delta.delta.metric == metric) return &delta.delta;
  }
  return nullptr;
}

TEST_F(CorrectionTest, ALateRowLeavesTheSealAsItWasAndYieldsOneCorrection) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  Load(11, 12, 12, kSide);
  const auto stored = Store("bf-1", 11, 12);
  ASSERT_EQ(stored.corrections.size(), 1u);
  const Correction& correction = stored.corrections[0];
  EXPECT_EQ(correction.number, 1);
  EXPECT_EQ(correction.interval, Hours(11, 12));
  EXPECT_EQ(correction.seal_id, seal.id);
  EXPECT_EQ(correction.job, "daily");
  ASSERT_NE(Of(correction.deltas, "n"), nullptr);
  EXPECT_EQ(Of(correction.deltas, "n")->AsDouble(), 7);
  EXPECT_THAT(stored.broken_seals, IsEmpty());
  const Seal after = Look(seal.id).seal;
  EXPECT_EQ(after.integrity, Integrity::kIntact);
  EXPECT_EQ(after.ids_digest, seal.ids_digest);
  EXPECT_EQ(after.content_digest, seal.content_digest);
  EXPECT_EQ(after.correction_count, 1);
}

TEST_F(CorrectionTest, IsStoredOncePerBackfillAndPartition) {
  Load(10, 14, 5);
  Sealed(11, 13);
  Load(11, 13, 12, kSide);
  EXPECT_EQ(Store("bf-1", 11, 13).corrections.size(), 2u);
  EXPECT_THAT(Store("bf-1", 11, 13).corrections, IsEmpty());
  EXPECT_EQ(List().corrections.size(), 2u);
}

// As after RetryBackfill: what it finds now is another correction, and both are kept.
TEST_F(CorrectionTest, OneThatIsRunAgainWithOtherFiguresIsAnother) {
  Load(10, 14, 5);
  Sealed(11, 13);
  Load(11, 12, 12, kSide);
  EXPECT_EQ(Store("bf-1", 11, 12).corrections.size(), 1u);
  ASSERT_TRUE(corrections_->End("bf-1").ok());
  EXPECT_THAT(*corrections_->Pending(), IsEmpty());
  Load(11, 12, 13, kSide);
  const auto again = Store("bf-1", 11, 12).corrections;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(corrections_->Pending()->size(), 1u);
  EXPECT_EQ(again[0].number, 2);
  EXPECT_EQ(Of(again[0].deltas, "n")->AsDouble(), 8);
  EXPECT_EQ(List().corrections.size(), 2u);
}

TEST_F(CorrectionTest, AllAreKeptAndTheSumsAreOfTheNewest) {
  Load(10, 14, 5);
  Sealed(11, 13);
  Load(11, 13, 12, kSide);
  Store("bf-1", 11, 13);
  Load(11, 12, 20, kSide);
  Store("bf-2", 11, 12);
  const auto page = List();
  ASSERT_EQ(page.corrections.size(), 3u);
  EXPECT_EQ(page.corrections[2].number, 3);
  for (const CorrectionTotal& total : page.totals) {
    if (total.was.metric != "n") continue;
    EXPECT_EQ(total.was.AsDouble(), 10);     // two hours of 5
    EXPECT_EQ(total.is_now.AsDouble(), 32);  // 20 and 12
    EXPECT_EQ(total.delta.AsDouble(), 22);
  }
  CorrectionFilter filter;
  filter.overlapping = Hours(12, 13);
  EXPECT_EQ(List(filter).corrections.size(), 1u);
  const auto first = List({}, 2);
  EXPECT_EQ(first.corrections.size(), 2u);
  const auto second = List({}, 2, first.next);
  EXPECT_EQ(second.corrections.size(), 1u);
  EXPECT_EQ(second.next, "");
  EXPECT_THAT(second.totals, IsEmpty());
}

TEST_F(CorrectionTest, WhatSomebodyElseChangedIsNamed) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  Load(11, 12, 6);
  Load(11, 12, 12, kSide);
  const auto stored = Store("bf-1", 11, 12);
  EXPECT_THAT(stored.broken_seals, ElementsAre(seal.id));
  // Against what was given out, not against what somebody made of it.
  EXPECT_EQ(Of(stored.corrections[0].deltas, "n")->AsDouble(), 7);
}

TEST_F(CorrectionTest, GoesWhereTheSealSaysAndOnlyOverSealedTime) {
  Load(10, 14, 5);
  Sealed(11, 13);
  EXPECT_EQ(*corrections_->TargetOf(kOrders, {Hours(11, 13)}), kSide);
  EXPECT_EQ(ReasonOf(corrections_->TargetOf(kOrders, {Hours(12, 14)}).status()), "NOT_SEALED");
  SealRequest other = Request(13, 14);
  other.corrections_datasource = "elsewhere";
  ASSERT_TRUE(seals_->SealInterval(other, Ada()).ok());
  EXPECT_EQ(ReasonOf(corrections_->TargetOf(kOrders, {Hours(12, 14)}).status()),
            "CORRECTIONS_DIFFER");
}

TEST(Difference, TellsGroupsThatCameWentAndChanged) {
  const auto group = [](const std::string& country, int64_t n) {
    return Group{{{"country", country}}, {{"n", false, n, 0.0}}};
  };
  const auto deltas = DifferenceOf({group("de", 5), group("fr", 3), group("it", 1)},
                                   {group("de", 5), group("fr", 10), group("es", 2)});
  ASSERT_EQ(deltas.size(), 3u);
  EXPECT_EQ(deltas[0].key.at("country"), "es");
  EXPECT_FALSE(deltas[0].was.has_value());
  EXPECT_EQ(deltas[0].delta.whole, 2);
  EXPECT_EQ(deltas[1].delta.whole, 7);
  EXPECT_FALSE(deltas[2].is_now.has_value());
  EXPECT_EQ(deltas[2].delta.whole, -1);
}

TEST(Difference, DoublesThatDifferByRoundingAreEqual) {
  const Group a{{}, {{"x", true, 0, 0.1 + 0.2}}};
  const Group b{{}, {{"x", true, 0, 0.3}}};
  EXPECT_THAT(DifferenceOf({a}, {b}), IsEmpty());
  const Group c{{}, {{"x", true, 0, 0.3001}}};
  EXPECT_EQ(DifferenceOf({a}, {c}).size(), 1u);
}

}  // namespace
}  // namespace interlock::seal
