#include "client/cpp/status_conversion.h"

#include <string>

#include "grpcpp/support/status.h"
#include "gtest/gtest.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

grpc::Status SaidByGrpc(const std::string& text) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, text};
}

TEST(FromGrpc, ARequestThatIsTooLargeIsBadInputThatNamesTheLimit) {
  const absl::Status status =
      FromGrpc(SaidByGrpc("Received message larger than max (17000655 vs. 16777216)"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "LIMIT_EXCEEDED");
  EXPECT_EQ(status.message(),
            "the request has 17000655 bytes; at most 16777216, which is limits.max_request_bytes "
            "of this server: put inline data into files");
}

TEST(FromGrpc, AReplyThatIsTooLargeIsNoFaultOfTheRequest) {
  const absl::Status status =
      FromGrpc(SaidByGrpc("Received message larger than max (70000000 vs. 67108864)"));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(status), "");
  EXPECT_EQ(FromGrpc(SaidByGrpc("too many pings")).code(), absl::StatusCode::kResourceExhausted);
}

// How gRPC ends a call that reaches a server which is shutting down.
TEST(FromGrpc, ACallThatIsEndedUnseenIsToBeSentAgain) {
  const absl::Status status = FromGrpc({grpc::StatusCode::CANCELLED, "CANCELLED"});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(status), "UNREACHABLE");
}

}  // namespace
}  // namespace interlock::client
