#include "server/field_bounds.h"

#include <gtest/gtest.h>

#include <string>

#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/drops.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

std::string Long(size_t bytes) { return std::string(bytes, 'x'); }

TEST(FieldBounds, NameTheFieldItsLengthAndTheBound) {
  v1::ReserveIntervalRequest request;
  request.set_datasource(Long(255));
  EXPECT_TRUE(CheckBounds(request).ok());
  request.set_datasource(Long(5'000));
  const absl::Status status = CheckBounds(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "FIELD_TOO_LONG");
  EXPECT_EQ(status.message(), "/datasource: it has 5000 bytes; at most 255");
  ASSERT_EQ(FaultsOf(status).size(), 1u);
  EXPECT_EQ(FaultsOf(status)[0].pointer, "/datasource");
}

TEST(FieldBounds, TellAllFaultsAtOnceAndLookIntoListsMapsAndMessages) {
  v1::ReserveIntervalRequest request;
  request.set_reason(Long(1'025));
  request.set_holder(Long(256));
  request.add_intervals("2026-07-16");
  request.add_intervals(Long(4'097));
  (*request.mutable_labels())[Long(256)] = "x";
  const absl::Status status = CheckBounds(request);
  EXPECT_EQ(FaultsOf(status).size(), 4u) << status;
  v1::PutRetentionPolicyRequest policy;
  policy.mutable_policy()->set_name(Long(256));
  ASSERT_EQ(FaultsOf(CheckBounds(policy)).size(), 1u);
  EXPECT_EQ(FaultsOf(CheckBounds(policy))[0].pointer, "/policy/name");
}

TEST(FieldBounds, RefuseWhatNoStoreKeepsAndNoPageHas) {
  v1::ReserveIntervalRequest request;
  request.set_purpose(std::string("a\0b", 3));
  EXPECT_EQ(ReasonOf(CheckBounds(request)), "FIELD_HAS_NUL");
  EXPECT_EQ(FaultsOf(CheckBounds(request)).front().pointer, "/purpose");
  request.clear_purpose();
  (*request.mutable_labels())["team"] = std::string(1, '\0');
  EXPECT_EQ(ReasonOf(CheckBounds(request)), "FIELD_HAS_NUL");
  v1::ListDropsRequest list;
  list.set_page_size(-3);
  EXPECT_EQ(ReasonOf(CheckBounds(list)), "PAGE_SIZE_INVALID");
  list.set_page_size(3);
  EXPECT_TRUE(CheckBounds(list).ok());
}

TEST(FieldBounds, LeaveBodiesToTheLimitOfTheServer) {
  v1::SubmitBackfillRequest request;
  request.set_spec(Long(1'000'000));
  EXPECT_TRUE(CheckBounds(request).ok()) << CheckBounds(request);
}

}  // namespace
}  // namespace interlock::server
