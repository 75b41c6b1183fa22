#include "lib/druid/segment_reader.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As Druid 33 answers it.
constexpr char kOne[] =
    R"({"dataSource":"clicks","interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)"
    R"("version":"2026-11-29T15:54:23.620Z","loadSpec":{"type":"local","path":"/d/0/index/"},)"
    R"("dimensions":"page","metrics":"count,n","shardSpec":{"type":"numbered","partitionNum":1,)"
    R"("partitions":2},"binaryVersion":9,"size":1514,"identifier":)"
    R"("clicks_2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z_2026-11-29T15:54:23.620Z_1"})";

struct Read {
  std::vector<UnusedSegment> rows;
  std::string reason;  // "" when it was read to its end
};

Read ReadPieces(const std::string& text, size_t piece_bytes,
                SegmentReader::Shape shape = SegmentReader::Shape::kSegments) {
  Read read;
  SegmentReader reader(shape, [&](UnusedSegment& row) { read.rows.push_back(row); });
  for (size_t at = 0; at < text.size(); at += piece_bytes) {
    if (!reader.Feed(absl::string_view(text).substr(at, piece_bytes))) break;
  }
  reader.Finish();
  read.reason = reader.reason();
  return read;
}

Read ReadAll(const std::string& text) { return ReadPieces(text, text.size() + 1); }

// A list of one segment whose member `name` is `value`, and which has the rest.
std::string With(const std::string& member) {
  return absl::StrCat(R"([{"dataSource":"d","interval":"2026-01-01/2026-01-02","version":"v",)",
                      member, "}]");
}

TEST(SegmentReader, ReadsWhatDecides) {
  const Read read = ReadAll(absl::StrCat("[", kOne, "]"));
  EXPECT_EQ(read.reason, "");
  ASSERT_EQ(read.rows.size(), 1u);
  const Segment& segment = read.rows[0].segment;
  EXPECT_EQ(segment.id,
            "clicks_2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z_2026-11-29T15:54:23.620Z_1");
  EXPECT_EQ(segment.datasource, "clicks");
  EXPECT_EQ(segment.interval.ToString(), "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
  EXPECT_EQ(segment.version, "2026-11-29T15:54:23.620Z");
  EXPECT_EQ(segment.shard.type, "numbered");
  EXPECT_EQ(segment.shard.partition_num, 1);
  EXPECT_EQ(segment.shard.core_partitions, 2);
  EXPECT_TRUE(segment.shard.known);
  EXPECT_EQ(segment.size_bytes, 1514);
  EXPECT_EQ(segment.load_spec, R"({"path":"/d/0/index/","type":"local"})");
  EXPECT_THAT(segment.metrics, ElementsAre("count", "n"));
  EXPECT_FALSE(segment.compacted);
  EXPECT_FALSE(segment.appended());
}

TEST(SegmentReader, ReadsTheSameHoweverTheReplyIsCut) {
  const std::string text = absl::StrCat(" [ ", kOne, " ,\n", kOne, ",", kOne, "\t] \n");
  for (size_t bytes = 1; bytes <= text.size(); ++bytes) {
    const Read read = ReadPieces(text, bytes);
    EXPECT_EQ(read.reason, "") << "in pieces of " << bytes;
    EXPECT_EQ(read.rows.size(), 3u) << "in pieces of " << bytes;
  }
}

TEST(SegmentReader, CutsInEscapesAndCharactersDoNoHarm) {
  const std::string text = With(R"("loadSpec":{"path":"\u00e4\ud83d\ude00é😀\\","n":-1.50e3})");
  for (size_t bytes = 1; bytes <= 40; ++bytes) {
    const Read read = ReadPieces(text, bytes);
    ASSERT_EQ(read.reason, "") << "in pieces of " << bytes;
    EXPECT_EQ(read.rows[0].segment.load_spec, "{\"n\":-1.50e3,\"path\":\"ä😀é😀\\\\\"}");
  }
}

TEST(SegmentReader, AnEmptyListIsAFact) {
  EXPECT_EQ(ReadAll("[]").reason, "");
  EXPECT_EQ(ReadAll(" [ ] ").reason, "");
}

TEST(SegmentReader, ReadsRowsOfUnusedSegments) {
  const std::string text =
      absl::StrCat(R"([{"dataSegment":)", kOne,
                   R"(,"createdDate":"2026-11-29T15:54:23.620Z",)"
                   R"("usedStatusLastUpdatedDate":"2026-11-29T15:54:30.229Z","used":false,)"
                   R"("schemaFingerprint":null,"numRows":null,"upgradedFromSegmentId":null}])");
  const Read read = ReadPieces(text, 11, SegmentReader::Shape::kUnusedRows);
  EXPECT_EQ(read.reason, "");
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].segment.version, "2026-11-29T15:54:23.620Z");
  EXPECT_EQ(read.rows[0].created->ToString(), "2026-11-29T15:54:23.620Z");
  EXPECT_EQ(read.rows[0].used_status_last_updated->ToString(), "2026-11-29T15:54:30.229Z");
}

TEST(SegmentReader, KnowsTheShardSpecsOfPublishedSegments) {
  const struct {
    const char* json;
    int32_t partition_num;
    int32_t core_partitions;
    bool known;
    bool appended;
  } specs[] = {
      {R"({"type":"numbered","partitionNum":3,"partitions":0})", 3, 0, true, true},
      {R"({"type":"numbered","partitionNum":1,"partitions":1})", 1, 1, true, true},
      {R"({"type":"hashed","partitionNum":1,"partitions":2,"bucketId":1,"numBuckets":2,)"
       R"("partitionDimensions":["a"],"partitionFunction":"murmur3_32_abs"})",
       1, 2, true, false},
      {R"({"type":"single","dimension":"site","start":null,"end":null,"partitionNum":0,)"
       R"("numCorePartitions":1})",
       0, 1, true, false},
      {R"({"type":"range","dimensions":["a","b"],"start":["x",null],"end":null,)"
       R"("partitionNum":2,"numCorePartitions":3})",
       2, 3, true, false},
      {R"({"type":"linear","partitionNum":4})", 4, 0, true, true},
      {R"({"type":"none"})", 0, 1, true, false},
      {R"({"type":"tombstone","partitionNum":0,"partitions":0})", 0, 0, true, false},
      {R"({"type":"tombstone","partitionNum":0,"partitions":1})", 0, 1, true, false},
      // Complete by its ranges alone: Druid before 0.21.
      {R"({"type":"single","dimension":"a","start":"x","end":null,"partitionNum":1})", 1, -1, false,
       true},
      {R"({"type":"numbered_overwrite","partitionId":32768,"startRootPartitionId":0})", 0, 0, false,
       true},
      {R"({"type":"building_numbered","partitionId":0})", 0, 0, false, true},
      {R"({"type":"some_day","partitionNum":2,"partitions":3})", 2, 0, false, true},
  };
  for (const auto& spec : specs) {
    const Read read = ReadAll(With(absl::StrCat("\"shardSpec\":", spec.json)));
    ASSERT_EQ(read.reason, "") << spec.json;
    const Segment& segment = read.rows[0].segment;
    EXPECT_EQ(segment.shard.partition_num, spec.partition_num) << spec.json;
    EXPECT_EQ(segment.shard.core_partitions, spec.core_partitions) << spec.json;
    EXPECT_EQ(segment.shard.known, spec.known) << spec.json;
    EXPECT_EQ(segment.appended(), spec.appended) << spec.json;
  }
}

TEST(SegmentReader, TakesWhatMayBeAbsent) {
  const Read read =
      ReadAll(With(R"("shardSpec":null,"loadSpec":null,"metrics":null,"binaryVersion":null)"));
  ASSERT_EQ(read.reason, "");
  const Segment& segment = read.rows[0].segment;
  EXPECT_EQ(segment.id, "d_2026-01-01T00:00:00.000Z_2026-01-02T00:00:00.000Z_v");
  EXPECT_EQ(segment.shard.core_partitions, 1);
  EXPECT_EQ(segment.load_spec, "");
}

TEST(SegmentReader, SeesCompaction) {
  const Read read = ReadAll(With(R"("lastCompactionState":{"partitionsSpec":{"type":"dynamic"}})"));
  EXPECT_TRUE(read.rows.at(0).segment.compacted);
  EXPECT_FALSE(ReadAll(With(R"("lastCompactionState":null)")).rows.at(0).segment.compacted);
}

TEST(SegmentReader, LoadSpecsAreEqualWhereTheyNameTheSameFile) {
  const auto spec = [](const std::string& json) {
    return ReadAll(With("\"loadSpec\":" + json)).rows.at(0).segment.load_spec;
  };
  EXPECT_EQ(spec(R"({"type":"s3","key":"k","bucket":"b"})"),
            spec(R"({ "bucket" : "b", "key":"k","type" :"s3"})"));
  EXPECT_NE(spec(R"({"key":"k"})"), spec(R"({"key":"K"})"));
  EXPECT_EQ(spec(R"({"b":[1,{"y":2,"x":[]}],"a":{}})"), R"({"a":{},"b":[1,{"x":[],"y":2}]})");
}

TEST(SegmentReader, LeavesNothingOfOneSegmentInTheNext) {
  const Read read = ReadAll(absl::StrCat(
      "[", kOne, R"(,{"dataSource":"d","interval":"2026-01-01/2026-01-02","version":"v"}])"));
  ASSERT_EQ(read.rows.size(), 2u);
  const Segment& second = read.rows[1].segment;
  EXPECT_EQ(second.load_spec, "");
  EXPECT_TRUE(second.metrics.empty());
  EXPECT_EQ(second.size_bytes, 0);
  EXPECT_EQ(second.id, "d_2026-01-01T00:00:00.000Z_2026-01-02T00:00:00.000Z_v");
}

TEST(SegmentReader, NonsenseEndsWithItsReason) {
  const struct {
    std::string text;
    const char* reason;
  } texts[] = {
      {"", "ends before the array"},
      {"{}", "instead of an array"},
      {"<html>", "instead of an array"},
      {"[", "ends before the array"},
      {"[{", "ends within it"},
      {"[1]", "no object"},
      {"[[]]", "no object"},
      {"[\"id\"]", "no object"},
      {"[null]", "no object"},
      {"[,]", "no object"},
      {"[]x", "after the array"},
      {"[][]", "after the array"},
      {absl::StrCat("[", kOne), "ends before the array"},
      {absl::StrCat("[", kOne, ",]"), "no object"},
      {absl::StrCat("[", kOne, kOne, "]"), "instead of a comma"},
      {absl::StrCat("[", std::string(kOne).substr(0, 200)), "ends within it"},
      {R"([{"a" 1}])", "colon"},
      {R"([{"a":tru}])", "Invalid value"},
      {std::string("[{\"a\":\"\0\"}]", 11), "element 0"},
      {R"([{}])", "without dataSource"},
      {R"([{"dataSource":"d","version":"v"}])", "without interval"},
      {R"([{"dataSource":"d","interval":"2026-01-01/2026-01-02"}])", "without version"},
      {With(R"("version":"w")"), "version stands twice"},
      {With(R"("size":1,"size":1)"), "size stands twice"},
      {With(R"("loadSpec":{"a":1,"a":2})"), "loadSpec stands twice"},
      {With(R"("shardSpec":{"type":"none","type":"none"})"), "type stands twice"},
      {With(R"("size":"big")"), "size is of another type"},
      {With(R"("size":1e99)"), "a size of 1e99"},
      {With(R"("identifier":7)"), "identifier is of another type"},
      {With(R"("shardSpec":"none")"), "shardSpec is of another type"},
      {With(R"("shardSpec":[])"), "shardSpec is of another type"},
      {With(R"("shardSpec":{"partitionNum":-1})"), "partitionNum is -1"},
      {With(R"("shardSpec":{"partitionNum":99999999999})"), "partitionNum is 99999999999"},
      {With(R"("metrics":["a"])"), "metrics is of another type"},
      {With(R"("metrics":true)"), "metrics is of another type"},
      {R"([{"dataSource":"d","interval":"never","version":"v"}])", "interval is never"},
      {With("\"x\":\"\xff\""), "no UTF-8"},
      {With(R"("loadSpec":{"p":"\udc00"})"), "no UTF-8"},
      {With("\"identifier\":\"\xc0\xaf\""), "no UTF-8"},
  };
  for (const auto& nonsense : texts) {
    for (const size_t bytes : {size_t{1}, size_t{3}, nonsense.text.size() + 1}) {
      const Read read = ReadPieces(nonsense.text, bytes);
      EXPECT_THAT(read.reason, HasSubstr(nonsense.reason)) << nonsense.text;
    }
  }
}

TEST(SegmentReader, DepthBombsEndEarly) {
  for (const char* opener : {"[", R"({"a":)"}) {
    std::string bomb = R"([{"x":)";
    for (int i = 0; i < 1'000'000; ++i) bomb += opener;
    EXPECT_THAT(ReadPieces(bomb, 65536).reason, HasSubstr("nested deeper"));
    std::string in_load_spec = R"([{"loadSpec":{"x":)";
    for (int i = 0; i < 1000; ++i) in_load_spec += opener;
    EXPECT_THAT(ReadPieces(in_load_spec, 65536).reason, HasSubstr("nested deeper"));
  }
}

TEST(SegmentReader, AnEndlessElementIsCutOff) {
  SegmentReader reader(SegmentReader::Shape::kSegments, [](UnusedSegment&) {});
  ASSERT_TRUE(reader.Feed(R"([{"x":")"));
  const std::string piece(1 << 20, 'x');
  int pieces = 0;
  while (reader.Feed(piece)) ASSERT_LT(++pieces, 64);
  EXPECT_THAT(reader.reason(), HasSubstr("larger than any segment"));
}

TEST(SegmentReader, ElementsInCrumbsCostNoMoreThanTwice) {
  // A megabyte in single bytes: a reader that tried again with each would need hours.
  const std::string text = With(absl::StrCat("\"x\":\"", std::string(1 << 20, 'x'), "\""));
  EXPECT_EQ(ReadPieces(text, 1).reason, "");
}

TEST(SegmentReader, HalfANumberIsNotTakenForTheNumber) {
  SegmentReader reader(SegmentReader::Shape::kSegments, [](UnusedSegment&) {});
  // Alone, the first half would be a fault already.
  ASSERT_TRUE(reader.Feed(R"([{"dataSource":"d","size":9999999999999999999)"));
  EXPECT_FALSE(reader.Feed(absl::StrCat(std::string(200, '9'), "}]")));
  EXPECT_THAT(reader.reason(), HasSubstr("a size of 99999999999999999999999"));
}

TEST(SegmentReader, NothingIsReadAfterAFault) {
  int rows = 0;
  SegmentReader reader(SegmentReader::Shape::kSegments, [&](UnusedSegment&) { ++rows; });
  EXPECT_FALSE(reader.Feed("[1"));
  EXPECT_FALSE(reader.Feed(absl::StrCat(",", kOne, "]")));
  EXPECT_FALSE(reader.Finish());
  EXPECT_EQ(rows, 0);
  EXPECT_THAT(reader.reason(), HasSubstr("element 0"));
}

}  // namespace
}  // namespace interlock::druid
