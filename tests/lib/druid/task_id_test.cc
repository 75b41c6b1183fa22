#include "lib/druid/task_id.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/reason.h"

namespace interlock::druid {
namespace {

AttemptKey Key() {
  return {"inc-1", "page_views", *Interval::Parse("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z"),
          "bf-7", 1};
}

TEST(ValidateDruidName, Case069RefusesWhatDruidRefuses) {
  for (const std::string& name :
       {std::string(""), std::string("a/b"), std::string(".x"), std::string("a\tb"),
        std::string("a\nb"), std::string("a\x01"), std::string("a\0b", 3), std::string("a\x7f"),
        std::string("a\xc2\x80"), std::string("a😀"), std::string("a\xee\x80\x80"),
        std::string("a\xff"), std::string("a\xed\xa0\x80"), std::string("/"), std::string("."),
        std::string(256, 'd')}) {
    const absl::Status status = ValidateDruidName("datasource", name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << absl::CEscape(name);
    EXPECT_EQ(ReasonOf(status), "DRUID_NAME_INVALID");
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("datasource "));
  }
}

TEST(ValidateDruidName, Case069TakesWhatDruidTakes) {
  for (const char* name : {"clicks", "a b", "x.y", "a-b_c:d", "zähler", "日本", "a\\b", "%2f"}) {
    EXPECT_TRUE(ValidateDruidName("datasource", name).ok()) << name;
  }
  EXPECT_TRUE(ValidateDruidName("datasource", std::string(255, 'd')).ok());
}

TEST(PinnedTaskId, Case065IsTheSameForTheSameAttemptAndNoOther) {
  const std::string id = PinnedTaskId(Key());
  EXPECT_EQ(PinnedTaskId(Key()), id);
  std::set<std::string> ids = {id};
  AttemptKey other = Key();
  other.incarnation = "inc-2";
  ids.insert(PinnedTaskId(other));
  other = Key();
  other.datasource = "page_view";
  ids.insert(PinnedTaskId(other));
  other = Key();
  other.unit = *Interval::Parse("2026-07-16T14:00:00Z/2026-07-16T15:00:00Z");
  ids.insert(PinnedTaskId(other));
  other = Key();
  other.backfill_id = "bf-8";
  ids.insert(PinnedTaskId(other));
  other = Key();
  other.attempt = 2;
  ids.insert(PinnedTaskId(other));
  // What one part lacks another can't make up for.
  other = Key();
  other.backfill_id = "bf-71";
  other.attempt = 1;
  ids.insert(PinnedTaskId(other));
  EXPECT_EQ(ids.size(), 7u);
}

TEST(PinnedTaskId, StaysWhatItWas) {
  // Changing it would submit what runs under its old name once more.
  EXPECT_EQ(PinnedTaskId(Key()), "il-85a4cb3fab6a58583c48-page-views");
}

TEST(PinnedTaskId, FitsKubernetesWhereNamesAreLongOrStrange) {
  for (const std::string& datasource : {std::string(200, 'A'), std::string("zähler 日本"),
                                        std::string("---"), std::string("a_b..c")}) {
    AttemptKey key = Key();
    key.datasource = datasource;
    const std::string id = PinnedTaskId(key);
    EXPECT_LE(id.size(), kMaxTaskIdBytes);
    EXPECT_TRUE(ValidateDruidName("task", id).ok());
    for (const char c : id) {
      EXPECT_TRUE(absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-') << id;
    }
    EXPECT_NE(id.back(), '-');
  }
}

TEST(PinnedTaskId, TheCutPartDoesNotTellThemApart) {
  AttemptKey first = Key();
  first.datasource = absl::StrCat(std::string(200, 'a'), "1");
  AttemptKey second = Key();
  second.datasource = absl::StrCat(std::string(200, 'a'), "2");
  EXPECT_NE(PinnedTaskId(first), PinnedTaskId(second));
}

TEST(PinnedTaskId, KindsOfTasksHaveNamesOfTheirOwn) {
  EXPECT_NE(PinnedTaskId("kill", "inc-1", "d", "7/1"), PinnedTaskId("noop", "inc-1", "d", "7/1"));
}

}  // namespace
}  // namespace interlock::druid
