#include "lib/time/status_reason.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StatusReason, CarriesReasonAndMetadataBesideTheMessage) {
  const absl::Status status = WithReason(absl::FailedPreconditionError("held by airflow"), "HELD",
                                         {{"holder", "airflow"}, {"purpose", "a: b\n:3:"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "held by airflow");
  EXPECT_EQ(ReasonOf(status), "HELD");
  EXPECT_EQ(MetadataOf(status), (Metadata{{"holder", "airflow"}, {"purpose", "a: b\n:3:"}}));
}

TEST(StatusReason, KeepsEveryFaultInOrder) {
  absl::Status status = absl::InvalidArgumentError("2 faults");
  AddFault(status, "/spec/ioConfig", "appendToExisting is true", "false");
  AddFault(status, "", "no intervals", "");
  EXPECT_THAT(FaultsOf(status),
              ElementsAre(Fault{"/spec/ioConfig", "appendToExisting is true", "false"},
                          Fault{"", "no intervals", ""}));
  EXPECT_THAT(BlockersOf(status), IsEmpty());
}

TEST(StatusReason, KeepsEveryBlockerInOrder) {
  absl::Status status = absl::FailedPreconditionError("held");
  AddBlocker(status, "HELD", "wiki/a", "by x");
  AddBlocker(status, "ORPHANED", "wiki/b", "by y");
  EXPECT_THAT(BlockersOf(status), ElementsAre(Blocker{"HELD", "wiki/a", "by x"},
                                              Blocker{"ORPHANED", "wiki/b", "by y"}));
}

TEST(StatusReason, CarriesTheTimeToWait) {
  const absl::Status status =
      WithRetryAfter(absl::UnavailableError("full"), std::chrono::milliseconds(1500));
  EXPECT_EQ(RetryAfterOf(status), std::chrono::milliseconds(1500));
  EXPECT_EQ(RetryAfterOf(absl::UnavailableError("full")), std::nullopt);
}

TEST(StatusReason, SaysNothingWhereNothingWasSaid) {
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), "");
  EXPECT_THAT(MetadataOf(absl::InternalError("x")), IsEmpty());
  EXPECT_EQ(ReasonOf(WithReason(absl::OkStatus(), "HELD", {{"a", "b"}})), "");
}

TEST(StatusReason, DropsAPayloadThatItDidNotWrite) {
  absl::Status status = absl::InternalError("x");
  status.SetPayload("interlock/metadata", absl::Cord("1:a9999999:short"));
  EXPECT_THAT(MetadataOf(status), IsEmpty());
  status.SetPayload("interlock/metadata", absl::Cord("1:ano length"));
  EXPECT_THAT(MetadataOf(status), IsEmpty());
}

}  // namespace
}  // namespace interlock
