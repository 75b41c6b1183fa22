// What becomes of a backfill whose time an admin takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/lease/reservations.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const audit::Caller kAdmin{"grace", "force-1", "the wrong hour"};

TEST(ForcedRelease, ShutsTheTaskDownAndBlocksUntilThatIsProven) {
  BackfillSite site;
  site.Load(13, 5);
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task"})")
                  .ok());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(2));
  ASSERT_EQ(NameOf(site.Partitions(id)[0].state), "RUNNING");
  const auto held = site.Held(Hour(13));
  ASSERT_THAT(held, SizeIs(1));
  ASSERT_TRUE(site.store()
                  .Write([&](store::Transaction& tx) {
                    return lease::ForceRelease(tx, held[0].reservation_id, kAdmin).status();
                  })
                  .ok());
  EXPECT_THAT(site.Held(Hour(13)), SizeIs(1)) << "its task may still write";

  const Backfills::Detail over = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "CANCELLED") << over.backfill.message;
  EXPECT_THAT(site.OurTasks(), SizeIs(1)) << "the time was not taken again";
  EXPECT_EQ(site.backfills().ListAttempts(id, 0)->at(0).druid_status, "FAILED");
  EXPECT_EQ(site.Rows(13), 5);
  EXPECT_THAT(site.Held(Hour(13)), IsEmpty());
}

}  // namespace
}  // namespace interlock::backfill
