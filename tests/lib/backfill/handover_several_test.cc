// Handovers of a datasource that several supervisors write (Druid 34 and later): each has a
// lease of its own, and is as it was before when all is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/backfill/stream_site.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kOthersId[] = "clicks_eu";
constexpr char kOthersTopic[] = "t_eu";

// Besides `clicks`, which reads t, one that reads t_eu into the same datasource.
class TwoStreamSite : public StreamSite {
 public:
  explicit TwoStreamSite(const std::string& others_io = "")
      : StreamSite("", SiteOptions(), /*supervisor_ids=*/true) {
    Ask("POST", "/druid/indexer/v1/supervisor",
        absl::StrReplaceAll(
            Spec(others_io),
            {{R"({"type":"kafka","spec")",
              absl::StrCat(R"({"id":")", kOthersId, R"(","type":"kafka","spec")")},
             {R"("topic":"t")", absl::StrCat(R"("topic":")", kOthersTopic, "\"")}}));
    EXPECT_TRUE(RunUntil([&] { return Known().size() == 2 && BothRead(); }, absl::Minutes(1)));
  }

  std::vector<guard::Stream> Known() {
    std::vector<guard::Stream> known;
    const absl::Status status = store().Read([&](store::Transaction& tx) {
      auto streams = guard::StreamsOf(tx, "clicks");
      if (streams.ok()) known = std::move(*streams);
      return streams.status();
    });
    EXPECT_TRUE(status.ok()) << status;
    return known;
  }
  bool BothRead() {
    const std::string running = Ask("GET", "/druid/indexer/v1/tasks?state=running");
    return absl::StrContains(running, "index_kafka_clicks_eu_") &&
           absl::StrContains(absl::StrReplaceAll(running, {{"index_kafka_clicks_eu", ""}}),
                             "index_kafka_clicks_");
  }
  bool BothAreBack(const std::string& id) {
    return HandoverOf(id).state == HandoverState::kOver && BothRead() && !Suspended() &&
           !Suspended(kOthersId);
  }
};

TEST(HandoverOfSeveral, AllAreSuspendedWaitedForAndResumed) {
  TwoStreamSite site;
  site.Produce(12, 6);
  site.Produce(13, 4, kOthersTopic);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(12, 14));
  bool posted_beside_a_stream = false;
  site.transport().Before([&](const druid::HttpRequest& request) {
    if (request.method != "POST" || !absl::EndsWith(request.url, "/indexer/v1/task")) return;
    posted_beside_a_stream = posted_beside_a_stream || site.TaskLives();
  });
  ASSERT_TRUE(site.RunUntil([&] { return site.BothAreBack(id); }));
  site.transport().Before(nullptr);
  EXPECT_FALSE(posted_beside_a_stream);
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  const Handover handover = site.HandoverOf(id);
  EXPECT_EQ(handover.reason, "");
  ASSERT_THAT(handover.supervisors, SizeIs(2));
  EXPECT_EQ(handover.Find("clicks")->offsets.at("0"), "6");
  EXPECT_EQ(handover.Find(kOthersId)->offsets.at("0"), "4");
  EXPECT_EQ(site.Rows(12), 6);
  EXPECT_EQ(site.Rows(13), 4);
  EXPECT_THAT(site.Findings("RESUMED_BY_OTHERS"), IsEmpty());
  EXPECT_THAT(site.Findings("SUSPENDED_BY_OTHERS"), IsEmpty());
}

TEST(HandoverOfSeveral, OneWhoseTailDoesNotReachInGoesOnReading) {
  TwoStreamSite site(",\"lateMessageRejectionPeriod\":\"PT1M\"");  // it writes from 12:59 on
  site.Produce(11, 6);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(11, 12));
  bool ever_suspended = false;
  ASSERT_TRUE(site.RunUntil([&] {
    ever_suspended = ever_suspended || site.Suspended(kOthersId);
    return site.BothAreBack(id);
  }));
  EXPECT_FALSE(ever_suspended);
  EXPECT_THAT(site.HandoverOf(id).supervisors, SizeIs(1));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site.Rows(11), 6);
}

TEST(HandoverOfSeveral, OneThatAPersonSuspendedStaysSoAndTheOtherResumes) {
  TwoStreamSite site;
  site.Produce(13, 6);
  site.Suspend(kOthersId);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_FALSE(site.Suspended());
  EXPECT_TRUE(site.Suspended(kOthersId));
  EXPECT_TRUE(site.HandoverOf(id).Find(kOthersId)->was_suspended);
}

TEST(HandoverOfSeveral, OneThatAPersonResumesIsNamedAndTheOtherResumesToo) {
  TwoStreamSite site;
  site.Produce(13, 6);
  site.Ask("POST", "/simulator/faults",
           R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":"stuck_task"})");
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return !site.OurTasks().empty(); }));
  site.Resume(kOthersId);
  ASSERT_TRUE(site.RunUntil([&] { return site.BothAreBack(id); }));
  EXPECT_EQ(site.HandoverOf(id).reason, "RESUMED_BY_OTHERS");
  EXPECT_THAT(site.HandoverOf(id).message, HasSubstr("resumed supervisor clicks_eu in"));
  EXPECT_EQ(site.Rows(13), 6);
}

TEST(HandoverOfSeveral, OneThatIsPostedMeanwhileHoldsWhatIsNotPosted) {
  StreamSite site("", BackfillSite::SiteOptions(), /*supervisor_ids=*/true);
  site.Produce(13, 6);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14), absl::Minutes(2));
  ASSERT_TRUE(site.RunUntil([&] { return site.HandoverOf(id).state == HandoverState::kDraining; }));
  site.Ask("POST", "/druid/indexer/v1/supervisor",
           absl::StrReplaceAll(StreamSite::Spec(""), {{R"({"type":"kafka","spec")",
                                                       R"({"id":"new","type":"kafka","spec")"},
                                                      {R"("topic":"t")", R"("topic":"t_new")"}}));
  ASSERT_TRUE(site.RunUntil([&] { return site.HandoverOf(id).state == HandoverState::kOver; }));
  EXPECT_EQ(site.HandoverOf(id).reason, "PAUSE_OVER");
  EXPECT_THAT(site.OurTasks(), IsEmpty());
  EXPECT_FALSE(site.Suspended());
}

// The process dies before exchange 1, 2, 3 … with Druid, until a run needs fewer.
TEST(HandoverOfSeveral, DyingAtAnyMomentBringsBothBack) {
  for (int64_t death = 1;; ++death) {
    SCOPED_TRACE(absl::StrCat("died before exchange ", death));
    TwoStreamSite site;
    site.Produce(12, 6);
    site.Produce(13, 4, kOthersTopic);
    const std::string id = site.SubmitHandover(StreamSite::Reindex(12, 14));
    bool died = false;
    ASSERT_TRUE(site.RunThroughDeath(
        death, [&] { return site.BothAreBack(id); }, &died));
    EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
    EXPECT_EQ(site.Rows(12), 6);
    EXPECT_EQ(site.Rows(13), 4);
    if (!died || testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace interlock::backfill
