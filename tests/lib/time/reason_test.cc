#include "lib/time/reason.h"

#include "gtest/gtest.h"

namespace interlock {
namespace {

TEST(Reason, TravelsBesideCodeAndText) {
  const absl::Status status = WithReason(absl::NotFoundError("no such lease"), "LEASE_UNKNOWN");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no such lease");
  EXPECT_EQ(ReasonOf(status), "LEASE_UNKNOWN");
}

TEST(Reason, IsReplacedByALaterOne) {
  EXPECT_EQ(ReasonOf(WithReason(WithReason(absl::AbortedError(""), "A"), "B")), "B");
}

TEST(Reason, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(ReasonOf(absl::AbortedError("x")), "");
  EXPECT_EQ(ReasonOf(WithReason(absl::OkStatus(), "A")), "");
}

}  // namespace
}  // namespace interlock
