#include "lib/seal/seals.h"

#include "gmock/gmock.h"
#include "tests/lib/seal/seal_site.h"

namespace interlock::seal {
namespace {

using druid::Hours;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SealTest, KeepsWhatWasGivenOut) {
  Load(10, 14, 5);
  SealRequest request = Request(11, 13);
  request.snapshot.aggregates = {{"total", "SUM(\"n\")"}};
  const auto sealed = seals_->SealInterval(request, Ada());
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  EXPECT_EQ(sealed->seal.state, State::kActive);
  EXPECT_EQ(sealed->seal.integrity, Integrity::kIntact);
  EXPECT_EQ(sealed->seal.ids_digest.size(), 64u);
  EXPECT_EQ(sealed->seal.content_digest.size(), 64u);
  EXPECT_EQ(sealed->seal.corrections_datasource, "orders__corrections");
  const auto detail = seals_->Get(sealed->seal.id, 10, "");
  ASSERT_TRUE(detail.ok()) << detail.status();
  ASSERT_EQ(detail->groups.size(), 1u);
  EXPECT_EQ(detail->groups[0].values[0].metric, "total");
  EXPECT_EQ(detail->groups[0].values[0].AsDouble(), 10);
  EXPECT_THAT(Methods(), ElementsAre("SealInterval"));
}

TEST_F(SealTest, BarsItsTimeAndNoOther) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  EXPECT_THAT(Barring(12, 13), ElementsAre(seal.id));
  EXPECT_THAT(Barring(0, 24), ElementsAre(seal.id));
  EXPECT_THAT(Barring(13, 14), IsEmpty());
  EXPECT_THAT(Barring(10, 11), IsEmpty());
  const Seal next = Sealed(13, 14);
  EXPECT_THAT(Barring(12, 14), ElementsAre(seal.id, next.id));
  EXPECT_THAT(Barring(13, 14), ElementsAre(next.id));
}

TEST_F(SealTest, IsRefusedOverWhatMayStillWrite) {
  Load(10, 14, 5);
  holders_ = {{"HELD", Hours(12, 13), "held by bob"}};
  auto refused = seals_->SealInterval(Request(11, 13), Ada());
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("held by bob"));
  holders_[0].type = "TAIL";
  EXPECT_EQ(ReasonOf(seals_->SealInterval(Request(11, 13), Ada()).status()), "TAIL");
  EXPECT_EQ(ReasonOf(seals_->Preview(Request(11, 13)).status()), "TAIL");
  EXPECT_THAT(Barring(0, 24), IsEmpty());
  EXPECT_THAT(Methods(), IsEmpty());
}

TEST_F(SealTest, IsRefusedWhereCompactionWillRewriteItUnlessAccepted) {
  Load(10, 14, 5);
  compacted_ = true;
  SealRequest request = Request(11, 13);
  EXPECT_EQ(ReasonOf(seals_->SealInterval(request, Ada()).status()), "COMPACTION_CONFIGURED");
  request.accept_compaction = true;
  const auto sealed = seals_->SealInterval(request, Ada());
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  EXPECT_TRUE(sealed->compacted);
}

TEST_F(SealTest, TakesWholePartitionsWithAReason) {
  Load(10, 14, 5);
  SealRequest half = Request(11, 13);
  half.interval = *Interval::Of(half.interval.start() + absl::Minutes(30), half.interval.end());
  EXPECT_EQ(ReasonOf(seals_->SealInterval(half, Ada()).status()), "MISALIGNED");
  EXPECT_EQ(ReasonOf(seals_->SealInterval(Request(11, 13), Ada("")).status()), "REASON_REQUIRED");
  EXPECT_EQ(ReasonOf(seals_->SealInterval(Request(0, 2), Ada()).status()), "NOTHING_TO_SEAL");
  SealRequest nowhere = Request(11, 13);
  nowhere.datasource = "a/b";
  EXPECT_EQ(ReasonOf(seals_->SealInterval(nowhere, Ada()).status()), "INVALID_DATASOURCE");
  SealRequest into_itself = Request(11, 13);
  into_itself.corrections_datasource = kOrders;
  EXPECT_THAT(std::string(seals_->SealInterval(into_itself, Ada()).status().message()),
              HasSubstr("is 'orders', which is what is sealed"));
}

TEST_F(SealTest, SealsOnceAndSaysWhoDid) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  const auto again = seals_->SealInterval(Request(12, 14), Ada());
  EXPECT_EQ(ReasonOf(again.status()), "ALREADY_SEALED");
  EXPECT_THAT(std::string(again.status().message()), HasSubstr(seal.id));
}

TEST_F(SealTest, AnswersARepeatedRequestWithWhatItMade) {
  Load(10, 14, 5);
  const auto first = seals_->SealInterval(Request(11, 13), Ada("r", "q1"));
  const auto second = seals_->SealInterval(Request(11, 13), Ada("r", "q1"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(second->attached);
  EXPECT_EQ(second->seal.id, first->seal.id);
  EXPECT_EQ(ReasonOf(seals_->SealInterval(Request(13, 14), Ada("r", "q1")).status()),
            "REQUEST_ID_REUSED");
}

// Its server died between the two transactions, or the answer is late.
TEST_F(SealTest, ARepeatedRequestGoesOnWithASealThatWasCutShort) {
  Load(10, 14, 5);
  const auto sealed = seals_->SealInterval(Request(11, 13), Ada("r", "q1"));
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  const Seal& whole = sealed->seal;
  ASSERT_TRUE(store_
                  ->Write([&](store::Transaction& tx) {
                    Seal seal = *ReadSeal(tx, whole.id);
                    seal.state = State::kSealing;
                    seal.unseal_until = tx.now() + kSealingFor;
                    return UpdateSeal(tx, seal);
                  })
                  .ok());
  // Nobody else's; and it is said what it is.
  const auto other = seals_->SealInterval(Request(11, 13), Ada());
  EXPECT_EQ(ReasonOf(other.status()), "ALREADY_SEALED");
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("is being sealed by ada"));
  const auto again = seals_->SealInterval(Request(11, 13), Ada("r", "q1"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->seal.id, whole.id);
  EXPECT_EQ(again->seal.state, State::kActive);
  EXPECT_EQ(again->seal.content_digest, whole.content_digest);
}

TEST_F(SealTest, AFailedReadLeavesNothingSealed) {
  Load(10, 14, 5);
  SealRequest request = Request(11, 13);
  request.snapshot.aggregates = {{"x", "NO_SUCH_FUNCTION(\"n\")"}};
  EXPECT_FALSE(seals_->SealInterval(request, Ada()).ok());
  EXPECT_THAT(Barring(0, 24), IsEmpty());
  EXPECT_TRUE(seals_->SealInterval(Request(11, 13), Ada()).ok());
}

TEST_F(SealTest, AnUnsealEndsByItselfAndTheSealHoldsAgain) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  const auto lifted = seals_->Unseal(seal.id, absl::Hours(1), Ada("a late voucher"));
  ASSERT_TRUE(lifted.ok()) << lifted.status();
  EXPECT_EQ(lifted->state, State::kUnsealed);
  EXPECT_THAT(Barring(11, 13), IsEmpty());
  EXPECT_EQ(Look(seal.id).again, absl::Hours(1));
  Load(11, 12, 7);
  clock_.Advance(absl::Hours(1) - absl::Seconds(6));
  EXPECT_THAT(Barring(11, 13), IsEmpty());
  clock_.Advance(absl::Seconds(1));
  // From this moment on, whether or not anybody has looked.
  EXPECT_THAT(Barring(11, 13), ElementsAre(seal.id));
  EXPECT_EQ(seals_->Get(seal.id, 0, "")->seal.state, State::kResealing);
  // What was begun is waited for.
  holders_ = {{"HELD", Hours(11, 12), "an attempt"}};
  EXPECT_FALSE(Look(seal.id).resealed);
  EXPECT_EQ(seals_->Get(seal.id, 0, "")->seal.state, State::kResealing);
  holders_.clear();
  EXPECT_TRUE(Look(seal.id).resealed);
  const auto again = seals_->Get(seal.id, 0, "");
  EXPECT_EQ(again->seal.state, State::kActive);
  EXPECT_NE(again->seal.content_digest, seal.content_digest);
  EXPECT_EQ(Look(seal.id).seal.integrity, Integrity::kIntact);
  EXPECT_THAT(Methods(), ElementsAre("SealInterval", "UnsealInterval", "seal.RESEALED"));
}

TEST_F(SealTest, AnUnsealNeedsAReasonAndAnEnd) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  EXPECT_EQ(ReasonOf(seals_->Unseal(seal.id, absl::Hours(1), Ada("")).status()), "REASON_REQUIRED");
  EXPECT_EQ(ReasonOf(seals_->Unseal(seal.id, absl::Hours(25), Ada()).status()), "UNSEAL_TOO_LONG");
  EXPECT_EQ(ReasonOf(seals_->Unseal(seal.id, absl::ZeroDuration(), Ada()).status()),
            "UNSEAL_TOO_LONG");
  EXPECT_EQ(ReasonOf(seals_->Unseal("s99", absl::Hours(1), Ada()).status()), "UNKNOWN_SEAL");
  EXPECT_THAT(Barring(11, 13), ElementsAre(seal.id));
}

TEST_F(SealTest, ARewriteWithEqualContentIsReportedAsOne) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  EXPECT_EQ(Look(seal.id).seal.integrity, Integrity::kIntact);
  Load(11, 12, 5);  // other ids, the same rows: what compaction does
  const auto looked = Look(seal.id);
  EXPECT_TRUE(looked.rewritten);
  EXPECT_FALSE(looked.broke);
  EXPECT_EQ(looked.seal.integrity, Integrity::kRewritten);
  EXPECT_FALSE(Look(seal.id).rewritten);  // told once
  EXPECT_EQ(looked.seal.content_digest, seal.content_digest);
}

TEST_F(SealTest, OtherContentIsAnAlertUntilItIsBack) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  Load(11, 12, 6);  // behind everybody's back
  auto looked = Look(seal.id);
  EXPECT_TRUE(looked.broke);
  EXPECT_EQ(looked.seal.integrity, Integrity::kBroken);
  EXPECT_FALSE(Look(seal.id).broke);
  Load(11, 12, 5);
  EXPECT_EQ(Look(seal.id).seal.integrity, Integrity::kRewritten);
  EXPECT_THAT(Methods(), ElementsAre("SealInterval", "seal.CHECK", "seal.CHECK"));
}

TEST_F(SealTest, AnAppendedRowIsOtherContent) {
  Load(10, 14, 5);
  const Seal seal = Sealed(11, 13);
  Load(12, 13, 1, kOrders, true);
  EXPECT_TRUE(Look(seal.id).broke);
}

TEST_F(SealTest, ListsByDatasourceAndStartInPages) {
  Load(0, 6, 5);
  std::vector<std::string> made;
  for (int hour = 5; hour >= 0; --hour) made.insert(made.begin(), Sealed(hour, hour + 1).id);
  for (const int64_t size : {1, 2, 6, 100}) {
    std::vector<std::string> ids;
    std::string token;
    do {
      const auto page = seals_->List({}, size, token);
      ASSERT_TRUE(page.ok()) << page.status();
      for (const Seal& seal : page->seals) ids.push_back(seal.id);
      token = page->next;
    } while (!token.empty());
    EXPECT_EQ(ids, made) << size;
  }
  Seals::Filter filter;
  filter.datasource = kOrders;
  filter.overlapping = Hours(2, 4);
  EXPECT_EQ(seals_->List(filter, 100, "")->seals.size(), 2u);
  filter.states = {State::kUnsealed};
  EXPECT_THAT(seals_->List(filter, 100, "")->seals, IsEmpty());
  EXPECT_EQ(ReasonOf(seals_->List({}, 1, "x").status()), "BAD_PAGE_TOKEN");
}

}  // namespace
}  // namespace interlock::seal
