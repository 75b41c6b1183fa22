#include "lib/druid/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/druid/id_list_reader.h"

namespace interlock::druid {
namespace {

using ::testing::HasSubstr;

const Instant kNow = *Instant::Parse("2026-07-16T12:00:00Z");

Fate FateOf(const std::string& rules, const std::string& segment) {
  return Rules::Parse(rules)->Of(*Interval::Parse(segment), kNow).fate;
}

constexpr char kLoad[] = R"({"type":"loadForever","tieredReplicants":{"_default_tier":1}})";
constexpr char kToday[] = "2026-07-16/2026-07-17";
constexpr char kLastYear[] = "2025-07-16/2025-07-17";

TEST(Rules, TheFirstThatAppliesDecides) {
  const std::string rules = absl::StrCat(R"([{"type":"dropByPeriod","period":"P1D"},)", kLoad, "]");
  EXPECT_EQ(FateOf(rules, kToday), Fate::kDropped);
  EXPECT_EQ(FateOf(rules, kLastYear), Fate::kLoads);
}

TEST(Rules, LoadRulesTakeWhatOverlapsAndDropRulesWhatLiesInside) {
  const std::string month = "2026-07-01/2026-08-01";
  EXPECT_EQ(FateOf(R"([{"type":"loadByInterval","interval":"2026-07-16/2026-07-17"}])", month),
            Fate::kLoads);
  EXPECT_EQ(FateOf(R"([{"type":"dropByInterval","interval":"2026-07-16/2026-07-17"}])", month),
            Fate::kNoRule);
  EXPECT_EQ(FateOf(R"([{"type":"loadByPeriod","period":"P10D"}])", month), Fate::kLoads);
  EXPECT_EQ(FateOf(R"([{"type":"dropByPeriod","period":"P10D"}])", month), Fate::kNoRule);
}

TEST(Rules, TheFutureIsPartOfAPeriodUnlessItIsLeftOut) {
  const std::string later = "2026-09-01/2026-09-02";
  EXPECT_EQ(FateOf(R"([{"type":"loadByPeriod","period":"P1M"}])", later), Fate::kLoads);
  EXPECT_EQ(FateOf(R"([{"type":"loadByPeriod","period":"P1M","includeFuture":false}])", later),
            Fate::kNoRule);
}

TEST(Rules, WhatEndedBeforeAPeriodIsDropped) {
  const std::string rules =
      absl::StrCat(R"([{"type":"dropBeforeByPeriod","period":"P1M"},)", kLoad, "]");
  EXPECT_EQ(FateOf(rules, kLastYear), Fate::kDropped);
  EXPECT_EQ(FateOf(rules, kToday), Fate::kLoads);
}

TEST(Rules, Case082NoReplicasAreToldFromNoneNamed) {
  EXPECT_EQ(FateOf(R"([{"type":"loadForever","tieredReplicants":{}}])", kToday),
            Fate::kZeroReplicas);
  EXPECT_EQ(FateOf(R"([{"type":"loadForever","tieredReplicants":{"hot":0}}])", kToday),
            Fate::kZeroReplicas);
  EXPECT_EQ(FateOf(R"([{"type":"loadForever"}])", kToday), Fate::kLoads);
  EXPECT_EQ(FateOf(R"([{"type":"loadForever","useDefaultTierForNull":false}])", kToday),
            Fate::kZeroReplicas);
}

TEST(Rules, ARuleThatIsNotKnownMakesWhatFollowsUnknown) {
  const std::string rules = absl::StrCat(R"([{"type":"loadByMoon"},)", kLoad, "]");
  EXPECT_EQ(FateOf(rules, kToday), Fate::kUnknown);
  EXPECT_EQ(FateOf(absl::StrCat("[", kLoad, R"(,{"type":"loadByMoon"}])"), kToday), Fate::kLoads);
  EXPECT_FALSE(Rules::Parse("{}").ok());
  EXPECT_FALSE(Rules::Parse("").ok());
}

IdListReader ReadIds(const std::string& text, size_t piece = 5) {
  IdListReader reader("a_b");
  for (size_t at = 0; at < text.size(); at += piece) {
    if (!reader.Feed(absl::string_view(text).substr(at, piece))) return reader;
  }
  reader.Finish();
  return reader;
}

TEST(IdListReader, CountsAndDigestsByInterval) {
  const std::string hour = "a_b_2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z_v";
  const std::string day = "a_b_2026-07-16T00:00:00.000Z_2026-07-17T00:00:00.000Z_v";
  auto one = ReadIds(absl::StrCat("[\"", hour, "\", \"", hour, "_1\",\"", day, "\"]"));
  EXPECT_EQ(one.reason(), "");
  ASSERT_EQ(one.contents().size(), 2u);
  auto other = ReadIds(absl::StrCat("[\"", hour, "_1\",\"", day, "\",\"", hour, "\"]"), 1);
  EXPECT_EQ(one.contents(), other.contents()) << "order is no matter";
  auto less = ReadIds(absl::StrCat("[\"", hour, "_2\",\"", day, "\",\"", hour, "\"]"));
  EXPECT_NE(one.contents(), less.contents());
  EXPECT_TRUE(ReadIds("[]").contents().empty());
}

TEST(IdListReader, NonsenseIsRefusedWithAReason) {
  const std::string id = "a_b_2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z_v";
  for (const std::string& text :
       {std::string("{}"), std::string("["), absl::StrCat("[\"", id, "\""),
        absl::StrCat("[\"", id, "\" \"", id, "\"]"), std::string("[1]"), std::string("[\"a_b_x\"]"),
        std::string("[\"other_2026_2027_v\"]"), std::string("[\"a_b_\xff\"]"),
        std::string("[\"a_b_2026-07-16T13:00:00.000Z_never_v\"]"),
        std::string("[\"a_b_never_2026-07-16T13:00:00.000Z_v\"]"),
        std::string("[\"a_b_2026-07-17T00:00:00.000Z_2026-07-16T00:00:00.000Z_v\"]"),
        absl::StrCat("[\"", id, "\"]]"), absl::StrCat("[\"", std::string(5000, 'x'), "\"]")}) {
    EXPECT_NE(ReadIds(text).reason(), "") << text.substr(0, 60);
  }
  EXPECT_THAT(ReadIds("[\"other_2026_2027_v\"]").reason(), HasSubstr("another datasource"));
}

}  // namespace
}  // namespace interlock::druid
