#include "server/status_conversion.h"

#include <gtest/gtest.h>

#include <chrono>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

// The one detail of type `Detail` in what a caller would get.
template <class Detail>
Detail DetailOf(const grpc::Status& status) {
  google::rpc::Status wire;
  EXPECT_TRUE(wire.ParseFromString(status.error_details()));
  Detail detail;
  int found = 0;
  for (const auto& any : wire.details()) {
    if (any.Is<Detail>()) {
      ++found;
      any.UnpackTo(&detail);
    }
  }
  EXPECT_EQ(found, 1);
  return detail;
}

TEST(StatusConversion, OkIsOk) { EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok()); }

TEST(StatusConversion, ReasonAndMetadataBecomeErrorInfo) {
  const auto status =
      ToGrpc(WithReason(absl::FailedPreconditionError("held"), "HELD", {{"holder", "airflow"}}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  EXPECT_EQ(info.reason(), "HELD");
  EXPECT_EQ(info.domain(), kErrorDomain);
  EXPECT_EQ(info.metadata().at("holder"), "airflow");
}

TEST(StatusConversion, AStatusWithoutReasonGetsItsCodesName) {
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(ToGrpc(absl::InternalError("?"))).reason(),
            "INTERNAL");
}

TEST(StatusConversion, EveryFaultIsToldWithItsPointer) {
  absl::Status faults = absl::InvalidArgumentError("two faults");
  AddFault(faults, "/spec/a", "is true", "write false");
  AddFault(faults, "/spec/b", "is missing", "");
  const auto bad = DetailOf<google::rpc::BadRequest>(ToGrpc(faults));
  ASSERT_EQ(bad.field_violations_size(), 2);
  EXPECT_EQ(bad.field_violations(0).field(), "/spec/a");
  EXPECT_EQ(bad.field_violations(0).description(), "is true; write false");
  EXPECT_EQ(bad.field_violations(1).description(), "is missing");
}

TEST(StatusConversion, BlockersAndDelaysAreTold) {
  absl::Status held = absl::FailedPreconditionError("held");
  AddBlocker(held, "HELD", "wiki/2026", "by airflow");
  const auto status = ToGrpc(WithRetryAfter(held, std::chrono::milliseconds(1500)));
  EXPECT_EQ(DetailOf<google::rpc::PreconditionFailure>(status).violations(0).subject(),
            "wiki/2026");
  const auto retry = DetailOf<google::rpc::RetryInfo>(status);
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

TEST(StatusConversion, NotYetBuiltSaysWhichMethod) {
  const auto status = NotYetBuilt("Seals/SealInterval");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status).reason(), "NOT_YET_BUILT");
}

}  // namespace
}  // namespace interlock::server
