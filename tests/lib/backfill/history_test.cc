// What is remembered of backfills that are over.
#include "lib/backfill/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::SizeIs;

int64_t Forget(BackfillSite& site, Instant before) {
  int64_t gone = 0;
  const absl::Status status = site.store().Write([&](store::Transaction& tx) {
    auto forgotten = ForgetOldest(tx, before);
    if (forgotten.ok()) gone = *forgotten;
    return forgotten.status();
  });
  EXPECT_TRUE(status.ok()) << status;
  return gone;
}

TEST(History, IsReadAfterYearsUnlessItIsTakenAway) {
  BackfillSite site;
  const std::string spec = site.FilesSpec(13, 15, 3);
  const std::string id = site.Submit(spec);
  site.RunUntilOver(id);
  const Instant ended = *site.backfills().Get(id)->backfill.ended;
  site.clock().Advance(absl::Hours(24) * 365 * 3);
  site.Restart();
  EXPECT_EQ(Forget(site, ended), 0);
  const auto attempts = site.backfills().ListAttempts(id, 1);
  ASSERT_TRUE(attempts.ok());
  ASSERT_THAT(*attempts, SizeIs(1));
  EXPECT_EQ(attempts->front().rows->processed, 3);
  EXPECT_EQ(site.Partitions(id)[1].proof->rows_found, 3);

  EXPECT_EQ(Forget(site, ended + absl::Milliseconds(1)), 1);
  EXPECT_EQ(ReasonOf(site.backfills().Get(id).status()), "UNKNOWN_BACKFILL");
  // What is done stays done.
  const std::string again = site.Submit(spec);
  EXPECT_NE(again, id);
  site.RunUntilOver(again);
  EXPECT_EQ(site.Partitions(again)[0].reason, "ALREADY_DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
}

TEST(History, OfWhatIsNotOverIsNeverTakenAway) {
  BackfillSite site;
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 3);
  request.min_rows = 4;
  const std::string id = site.backfills().Submit(request, site.Caller())->backfill.id;
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "NEEDS_ATTENTION");
  EXPECT_EQ(Forget(site, Instant::kMax), 0);
}

}  // namespace
}  // namespace interlock::backfill
