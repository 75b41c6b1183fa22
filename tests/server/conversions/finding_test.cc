#include "server/conversions/finding.h"

#include <gtest/gtest.h>

namespace interlock::server {
namespace {

TEST(FindingConversion, AVerdictOfStreamsNamesWhoWrites) {
  guard::Finding finding;
  finding.kind = guard::kVerdict;
  finding.reason = "DUPLICATE_ROWS";
  finding.task_ids = {"index_kafka_views_1"};
  v1::Finding task, stream;
  ToProto(finding, &task);
  EXPECT_EQ(task.verdict().writer(), "index_kafka_views_1");
  finding.stream = "views_kafka";
  ToProto(finding, &stream);
  EXPECT_EQ(stream.verdict().writer(), "views_kafka");
}

}  // namespace
}  // namespace interlock::server
