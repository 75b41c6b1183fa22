#include "lib/drop/kill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/drop/check.h"
#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
const char kHour14[] = "2026-07-16T14:00Z/2026-07-16T15:00Z";

TEST(KillPieces, AreOnePartitionEachWithVersionsAndTheLatestOfTheirOwnMarks) {
  const Manifest rows = {
      MarkedRow(MakeSegment(kHour14, "v1"), "2026-08-01T12:00:00.700Z"),
      MarkedRow(MakeSegment(kHour13, "v2"), "2026-08-01T12:00:00.500Z"),
      MarkedRow(MakeSegment(kHour13, "v1"), "2026-08-01T12:00:00.250Z"),
      MarkedRow(MakeSegment(kHour13, "v2", 1), "2026-08-01T12:00:00.100Z"),
      MakeRow(MakeSegment(kHour13, "v3"), Phase::kForeign),
      MakeRow(MakeSegment("2026-07-16/2026-07-17", "v0"), Phase::kStays),
  };
  const auto pieces = KillPieces(rows);
  ASSERT_THAT(pieces, SizeIs(2));
  EXPECT_EQ(pieces[0].interval, Of(kHour13));
  EXPECT_THAT(pieces[0].versions, ElementsAre("v1", "v2"));
  EXPECT_EQ(pieces[0].not_after, At("2026-08-01T12:00:00.500Z"));
  EXPECT_THAT(pieces[0].ids, SizeIs(3));
  EXPECT_EQ(pieces[1].interval, Of(kHour14));
}

TEST(KillPieces, LeaveOutWhatHasNoTimeToBoundItBy) {
  EXPECT_THAT(KillPieces({MakeRow(MakeSegment(kHour13, "v1"), Phase::kMarked)}), IsEmpty());
}

TEST(KillPieces, OfNeighboursAreJoinedUpToALimitAndAcrossNoGap) {
  Manifest rows;
  for (const char* hour : {"2026-07-16T10/2026-07-16T11", "2026-07-16T11/2026-07-16T12",
                           "2026-07-16T12/2026-07-16T13", "2026-07-16T15/2026-07-16T16"}) {
    rows.push_back(MarkedRow(MakeSegment(hour, std::string("v-") + hour), "2026-08-01T12:00Z"));
  }
  rows[1].unused_at = At("2026-08-01T12:01Z");
  const auto pieces = Joined(KillPieces(rows), {}, 2);
  ASSERT_THAT(pieces, SizeIs(3));
  EXPECT_EQ(pieces[0].interval, Of("2026-07-16T10/2026-07-16T12"));
  EXPECT_THAT(pieces[0].versions, SizeIs(2));
  EXPECT_EQ(pieces[0].not_after, At("2026-08-01T12:01Z"));
  EXPECT_THAT(pieces[0].ids, ElementsAre(rows[0].id, rows[1].id));
  EXPECT_EQ(pieces[1].interval, rows[2].interval);
  EXPECT_EQ(pieces[2].interval, rows[3].interval);
}

TEST(KillPieces, AreNotJoinedWhereThatWouldReachMore) {
  const auto ten = MakeSegment("2026-07-16T10/2026-07-16T11", "v1");
  const auto eleven = MakeSegment("2026-07-16T11/2026-07-16T12", "v2");
  const Manifest rows = {MarkedRow(ten, "2026-08-01T12:00Z"),
                         MarkedRow(eleven, "2026-08-01T12:00Z")};
  // The other's version, in this one's hour: alone neither piece reaches it.
  const auto other = Unused(MakeSegment("2026-07-16T10/2026-07-16T11", "v2"), "2026-01-01");
  EXPECT_THAT(Joined(KillPieces(rows), {}, 100), SizeIs(1));
  EXPECT_THAT(Joined(KillPieces(rows), {other}, 100), SizeIs(2));
}

TEST(KillTask, SaysItsBoundsAndItsNonce) {
  const Manifest rows = {MarkedRow(MakeSegment(kHour13, "v1"), "2026-08-01T12:00:00.700Z")};
  const KillTask task{"kill-1", "clicks", "drop-7", "n0nce", 2};
  EXPECT_EQ(KillTaskJson(task, KillPieces(rows)[0]),
            R"({"type":"kill","id":"kill-1","dataSource":"clicks",)"
            R"("interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z","versions":["v1"],)"
            R"("maxUsedStatusLastUpdatedTime":"2026-08-01T12:00:00.700Z",)"
            R"("context":{"interlock":{"drop":"drop-7","attempt":2,"nonce":"n0nce"}}})");
}

// Case 48: a kill over an umbrella interval took a segment marked an hour ago along with
// the one marked a month ago.
TEST(KillPieces, Case048KillReachesNothingMarkedLaterOrOfAnotherVersion) {
  const char* umbrella = "2023-01-01/2023-01-05";
  const auto s1 = MakeSegment(umbrella, "v1");
  const KillPiece piece = KillPieces({MarkedRow(s1, "2026-06-16T13:00Z")})[0];
  EXPECT_TRUE(WouldKill(piece, Unused(s1, "2026-06-16T13:00Z")));
  EXPECT_FALSE(WouldKill(piece, Unused(MakeSegment(umbrella, "v1", 1), "2026-07-16T12:00Z")));
  EXPECT_FALSE(WouldKill(piece, Unused(MakeSegment(umbrella, "v2"), "2026-01-01T00:00Z")));
  // Same version, marked earlier by somebody else: no bound can leave it out.
  EXPECT_TRUE(WouldKill(piece, Unused(MakeSegment(umbrella, "v1", 2), "2026-01-01T00:00Z")));
  // Inside the interval, of a finer partition.
  EXPECT_TRUE(
      WouldKill(piece, Unused(MakeSegment("2023-01-02/2023-01-03", "v1"), "2026-01-01T00:00Z")));
  druid::UnusedSegment untold;
  untold.segment = MakeSegment(umbrella, "v1", 3);
  EXPECT_TRUE(WouldKill(piece, untold));
}

TEST(KillFailure, IsReadFromTheTasksError) {
  EXPECT_EQ(KillFailure("Shutdown request from user"), "SHUT_DOWN");
  EXPECT_EQ(KillFailure("java.nio.file.AccessDeniedException: /segments/x"), "PERMISSION");
  EXPECT_EQ(KillFailure("/segments/x: Operation not permitted"), "PERMISSION");
  EXPECT_EQ(KillFailure("segments not covered by locks"), "LOCK_CONFLICT");
  EXPECT_EQ(KillFailure("java.nio.file.NoSuchFileException: /segments/x"), "FILE_MISSING");
  EXPECT_EQ(KillFailure("This task disappeared on the worker where it was assigned."),
            "WORKER_LOST");
  // A real 33 with an Indexer, of a file that cannot be deleted: no word of why.
  EXPECT_EQ(KillFailure("Failed with exception [Unable to kill segment]. See indexer logs for "
                        "details."),
            "FILES_LEFT");
  EXPECT_EQ(KillFailure(""), "OTHER");
  EXPECT_FALSE(WorthAnotherKill("PERMISSION"));
  EXPECT_TRUE(WorthAnotherKill("WORKER_LOST"));
}

class SpeaksAgainstTest : public ::testing::Test {
 protected:
  // A checked drop of one marked segment that nothing speaks against.
  const druid::Segment segment_ = MakeSegment(kHour13, "v1");
  Manifest rows_ = {MarkedRow(segment_, "2026-08-01T12:00Z")};
  Look look_{{}, {{Unused(segment_, "2026-08-01T12:00Z")}}};
  std::vector<druid::TaskLock> locks_;
  std::vector<RunningTask> tasks_;
  Instant now_ = At("2026-08-05T12:00Z");
  absl::Duration floor_ = absl::Hours(24 * 14);

  std::vector<std::string> Reasons() {
    const Sighting sighting = See(rows_, look_);
    std::vector<std::string> reasons;
    for (const Objection& objection :
         SpeaksAgainst({rows_, sighting, look_, locks_, tasks_, floor_, {now_, now_, now_}})) {
      reasons.push_back(objection.reason);
      EXPECT_NE(objection.subject, "");
      EXPECT_NE(objection.text, "");
    }
    return reasons;
  }
};

TEST_F(SpeaksAgainstTest, NothingIsFoundWhereNothingIs) { EXPECT_THAT(Reasons(), IsEmpty()); }

// An append after a mark can be given a dropped id again; and somebody may mark it used.
TEST_F(SpeaksAgainstTest, Case006AnIdThatIsUsedAgain) {
  look_ = {{segment_}, {{}}};
  EXPECT_THAT(Reasons(), ElementsAre(kMarkedUsedAgain));
}

TEST_F(SpeaksAgainstTest, NewerDataOverIt) {
  look_.used.push_back(MakeSegment(kHour13, "v2"));
  EXPECT_THAT(Reasons(), ElementsAre(kNewerDataOver));
}

// Case 54: two ids, one file; one unused, one used.
TEST_F(SpeaksAgainstTest, Case054AFileThatAUsedSegmentShares) {
  auto upgraded = MakeSegment(kHour14, "v9");
  upgraded.load_spec = segment_.load_spec;
  look_.used.push_back(upgraded);
  EXPECT_THAT(Reasons(), ElementsAre(kSharedFile));
}

TEST_F(SpeaksAgainstTest, TombstonesShareNoFile) {
  auto tombstone = MakeSegment(kHour13, "v1");
  tombstone.shard.type = "tombstone";
  tombstone.load_spec = R"({"path":null,"type":"tombstone"})";
  rows_ = {MarkedRow(tombstone, "2026-08-01T12:00Z")};
  look_.unused = {{Unused(tombstone, "2026-08-01T12:00Z")}};
  auto other = tombstone;
  other.id = "clicks_elsewhere";
  other.interval = Of(kHour14);
  look_.used.push_back(other);
  EXPECT_THAT(Reasons(), IsEmpty());
}

TEST_F(SpeaksAgainstTest, DataYoungerThanTheFloor) {
  floor_ = absl::Hours(24 * 20);
  EXPECT_THAT(Reasons(), ElementsAre(kYoungerThanFloor));
}

TEST_F(SpeaksAgainstTest, ALockOverItAndNoOther) {
  druid::TaskLock lock;
  lock.interval = Of(kHour14);
  locks_ = {lock};
  EXPECT_THAT(Reasons(), IsEmpty());
  lock.interval = Of("2026-07-16T13:30Z/2026-07-16T14:30Z");
  locks_.push_back(lock);
  EXPECT_THAT(Reasons(), ElementsAre(kLocked));
}

TEST_F(SpeaksAgainstTest, ATaskAtWorkOverItOrOneThatDoesNotSayWhere) {
  tasks_ = {{"t1", "index_parallel", {{Of("2026-07-16T15:00Z/2026-07-16T16:00Z")}}}};
  EXPECT_THAT(Reasons(), IsEmpty());
  tasks_ = {{"t1", "index_parallel", {{Of(kHour13)}}}};
  EXPECT_THAT(Reasons(), ElementsAre(kRunningTask));
  tasks_ = {{"t1", "query_controller", std::nullopt}};
  EXPECT_THAT(Reasons(), ElementsAre(kRunningTask));
}

TEST_F(SpeaksAgainstTest, AnUnusedSegmentThatNoBoundLeavesOut) {
  look_.unused->push_back(Unused(MakeSegment(kHour13, "v1", 1), "2026-07-30T00:00Z"));
  EXPECT_THAT(Reasons(), ElementsAre(kNotOnManifest));
}

TEST_F(SpeaksAgainstTest, AMarkWithoutATime) {
  rows_[0].unused_at.reset();
  look_.unused->at(0).used_status_last_updated.reset();
  EXPECT_THAT(Reasons(), ElementsAre(kTimeOfMarkUnknown));
}

}  // namespace
}  // namespace interlock::drop
