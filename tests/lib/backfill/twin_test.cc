// A datasource that must have the same rows and sums as what a backfill writes.
#include "lib/backfill/twin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class TwinTest : public testing::Test {
 protected:
  // The hours 13 and 14 of another datasource, filled by somebody else.
  void Fill() {
    const std::string spec =
        Edited(site_.FilesSpec(13, 15, 3), {{"/spec/dataSchema/dataSource", "\"copies\""}});
    EXPECT_EQ(NameOf(site_.RunUntilOver(site_.Submit(spec)).backfill.phase), "DONE");
  }
  absl::StatusOr<Backfills::Submitted> Submit(int rows, const std::string& twin) {
    BackfillRequest request;
    request.spec = site_.FilesSpec(13, 15, rows);
    request.same_as = twin;
    return site_.backfills().Submit(request, site_.Caller());
  }
  Backfills::Detail Run(int rows, const std::string& twin = "copies") {
    const auto submitted = Submit(rows, twin);
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return site_.RunUntilOver(submitted->backfill.id);
  }

  BackfillSite site_;
};

TEST_F(TwinTest, TheSameRowsAndSumsAreProven) {
  Fill();
  const Backfills::Detail over = Run(3);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(over.backfill.terms.same_as, "copies");
  const auto proof = site_.Partitions(over.backfill.id)[0].proof;
  ASSERT_TRUE(proof.has_value());
  std::vector<std::string> by_twin;
  for (const Compared& one : proof->compared) {
    if (one.by_twin) by_twin.push_back(one.measure);
  }
  EXPECT_THAT(by_twin, Contains("rows"));
  EXPECT_THAT(by_twin, Contains("n"));
}

TEST_F(TwinTest, OtherRowsMakeThePartitionSuspectAndNameTheOther) {
  Fill();
  const Backfills::Detail over = Run(4);
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
  const auto partition = site_.Partitions(over.backfill.id)[0];
  EXPECT_EQ(partition.reason, "ROWS_DIFFER");
  EXPECT_THAT(partition.message, HasSubstr("copies has 3"));
}

TEST_F(TwinTest, WhatCantBeAskedIsRefusedAtOnce) {
  EXPECT_EQ(ReasonOf(Submit(3, "clicks").status()), "EXPECTATION_INVALID");
  EXPECT_EQ(ReasonOf(Submit(3, "nowhere").status()), "EXPECTATION_NOT_CHECKABLE");
}

TEST_F(TwinTest, ATwinThatDoesNotAnswerIsNeverAYes) {
  Fill();
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    return request.url.find("loadstatus") != std::string::npos &&
                   request.url.find("copies") != std::string::npos
               ? Spoil::kServerError
               : Spoil::kNot;
  });
  const Backfills::Detail over = Run(3);
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
  EXPECT_EQ(site_.Partitions(over.backfill.id)[0].reason, "SAME_AS_NOT_TOLD");
  // It is asked again, and then it is known.
  site_.transport().SpoilBy({});
  for (int i = 0; i < 60; ++i) {
    site_.Pass(absl::Seconds(20));
    while (site_.StepOnce()) {
    }
  }
  EXPECT_EQ(NameOf(site_.backfills().Get(over.backfill.id)->backfill.phase), "DONE");
}

}  // namespace
}  // namespace interlock::backfill
