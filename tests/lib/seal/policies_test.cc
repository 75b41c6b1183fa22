#include "lib/seal/policies.h"

#include "gmock/gmock.h"
#include "tests/lib/seal/seal_site.h"

namespace interlock::seal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SealPolicy Monthly(const std::string& zone = "UTC") {
  SealPolicy policy;
  policy.name = "monthly";
  policy.datasource_pattern = "ord*";
  policy.unit = "P1M";
  policy.age = "P45D";
  policy.time_zone = zone;
  policy.label = "report";
  return policy;
}

class PolicyTest : public SealTest {
 protected:
  std::vector<std::string> Due(const SealPolicy& policy, const std::string& used,
                               const std::string& now) {
    std::vector<std::string> units;
    auto due = DueUnits(*store_, policy, kOrders, {*Interval::Parse(used)}, *Instant::Parse(now),
                        [](const std::string& label, const Interval&) { return label; });
    EXPECT_TRUE(due.ok()) << due.status();
    if (!due.ok()) return units;
    for (const SealRequest& one : *due) units.push_back(one.interval.ToString());
    return units;
  }
};

TEST_F(PolicyTest, SealsAMonthFortyFiveDaysAfterItsEnd) {
  const std::string june = "2026-06-01T00:00:00.000Z/2026-07-01T00:00:00.000Z";
  EXPECT_THAT(Due(Monthly(), "2026-06-10/2026-09-01", "2026-08-14T23:59:59.999Z"), IsEmpty());
  EXPECT_THAT(Due(Monthly(), "2026-06-10/2026-09-01", "2026-08-15"), ElementsAre(june));
}

TEST_F(PolicyTest, CountsByTheCalendarOfItsZone) {
  // Berlin's June ends at 22:00Z on the 30th; 45 days later the clocks still show summer.
  EXPECT_THAT(Due(Monthly("Europe/Berlin"), "2026-06-10/2026-06-20", "2026-08-14T22:00Z"),
              ElementsAre("2026-05-31T22:00:00.000Z/2026-06-30T22:00:00.000Z"));
  EXPECT_THAT(Due(Monthly("Europe/Berlin"), "2026-06-10/2026-06-20", "2026-08-14T21:59Z"),
              IsEmpty());
}

TEST_F(PolicyTest, LeavesAloneWhatIsSealed) {
  Load(10, 14, 5);
  SealPolicy hourly = Monthly();
  hourly.unit = "PT1H";
  hourly.age = "P1D";
  Sealed(11, 12);
  const std::string used = "2026-07-16T10:00Z/2026-07-16T13:00Z";
  EXPECT_EQ(Due(hourly, used, "2026-08-20").size(), 2u);
}

TEST_F(PolicyTest, IsStoredListedAndTakenAwayWithItsEvents) {
  ASSERT_TRUE(PutPolicy(*store_, Monthly(), Ada()).ok());
  SealPolicy changed = Monthly();
  changed.age = "P30D";
  ASSERT_TRUE(PutPolicy(*store_, changed, Ada()).ok());
  const auto policies = ListPolicies(*store_, "", 10);
  ASSERT_EQ(policies->size(), 1u);
  EXPECT_EQ(policies->front().age, "P30D");
  EXPECT_EQ(policies->front().updated_by, "ada");
  ASSERT_TRUE(DeletePolicy(*store_, "monthly", Ada()).ok());
  EXPECT_EQ(ReasonOf(DeletePolicy(*store_, "monthly", Ada())), "UNKNOWN_SEAL_POLICY");
  EXPECT_THAT(Methods(), ElementsAre("PutSealPolicy", "PutSealPolicy", "DeleteSealPolicy"));
}

TEST_F(PolicyTest, NamesWhatIsWrongWithIt) {
  const auto reason = [](void (*spoil)(SealPolicy&)) {
    SealPolicy policy = Monthly();
    spoil(policy);
    return ReasonOf(CheckPolicy(policy));
  };
  EXPECT_EQ(reason([](SealPolicy& p) { p.name = "a b"; }), "INVALID_NAME");
  EXPECT_EQ(reason([](SealPolicy& p) { p.datasource_pattern = ""; }), "INVALID_PATTERN");
  EXPECT_EQ(reason([](SealPolicy& p) { p.unit = "month"; }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](SealPolicy& p) { p.time_zone = "Nowhere/Land"; }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](SealPolicy& p) { p.age = ""; }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](SealPolicy& p) { p.snapshot.dimensions = {"x"}; }), "INVALID_SNAPSHOT");
  EXPECT_EQ(reason([](SealPolicy& p) { p.corrections_datasource = "a/b"; }), "INVALID_DATASOURCE");
  EXPECT_EQ(reason([](SealPolicy& p) { p.corrections_datasource = "orders_too"; }),
            "INVALID_DATASOURCE")
      << "it fits the pattern itself";
  EXPECT_EQ(reason([](SealPolicy& p) { p.corrections_datasource = "side"; }), "");
}

TEST_F(PolicyTest, TakesUnitsAndAgesThatMeanSomething) {
  const auto takes = [](const std::string& unit, const std::string& age) {
    SealPolicy policy = Monthly();
    policy.unit = unit;
    policy.age = age;
    return CheckPolicy(policy).ok();
  };
  for (const char* unit : {"PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y", "P10Y"}) {
    EXPECT_TRUE(takes(unit, "P45D")) << unit;
  }
  for (const char* unit : {"PT0S", "PT1S", "PT59M", "P-1M", "P11Y", "P99999Y"}) {
    EXPECT_FALSE(takes(unit, "P45D")) << unit;
  }
  for (const char* age : {"PT0S", "PT1H", "P2M", "P100Y", "P1M-1D"}) {
    EXPECT_TRUE(takes("P1M", age)) << age;
  }
  for (const char* age : {"P-1D", "PT-1S", "P101Y", "P2147483647Y"}) {
    EXPECT_FALSE(takes("P1M", age)) << age;
  }
}

TEST_F(PolicyTest, FitsNamesWithAStar) {
  EXPECT_TRUE(Applies(Monthly(), "orders"));
  EXPECT_FALSE(Applies(Monthly(), "clicks"));
}

}  // namespace
}  // namespace interlock::seal
