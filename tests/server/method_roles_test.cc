#include "server/method_roles.h"

#include <set>
#include <string>

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "interlock/v1/audit.pb.h"
#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/drops.pb.h"
#include "interlock/v1/findings.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/jobs.pb.h"
#include "interlock/v1/reservations.pb.h"
#include "interlock/v1/seals.pb.h"
#include "interlock/v1/server.pb.h"
#include "interlock/v1/streams.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

const std::set<const google::protobuf::FileDescriptor*>& Files() {
  static const std::set<const google::protobuf::FileDescriptor*> kFiles = {
      v1::ListAuditEventsRequest::descriptor()->file(),
      v1::GetBackfillRequest::descriptor()->file(),
      v1::GetDropRequest::descriptor()->file(),
      v1::ListFindingsRequest::descriptor()->file(),
      v1::ReserveIntervalRequest::descriptor()->file(),
      v1::PutJobRequest::descriptor()->file(),
      v1::RenewReservationRequest::descriptor()->file(),
      v1::SealIntervalRequest::descriptor()->file(),
      v1::GetStatusRequest::descriptor()->file(),
      v1::RegisterStreamRequest::descriptor()->file()};
  return kFiles;
}

TEST(MethodRoles, EveryMethodOfTheApiHasARoleThatThereIs) {
  const std::vector<std::string> roles = AllRoles();
  int methods = 0;
  for (const auto* file : Files()) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m, ++methods) {
        const auto* method = file->service(s)->method(m);
        const auto found = RoleOf(file->service(s)->name() + "/" + method->name());
        ASSERT_TRUE(found.ok()) << method->full_name();
        EXPECT_EQ(std::string(found->method.data(), found->method.size()), method->name());
        EXPECT_EQ(std::count(roles.begin(), roles.end(), found->role), 1) << method->full_name();
      }
    }
  }
  EXPECT_GE(methods, 50);
}

// What can't be taken back, or overrules a person, wants a role of its own.
TEST(MethodRoles, DestructiveCallsWantTheirOwn) {
  EXPECT_EQ(RoleOf("DropAndKill")->role, "drop");
  EXPECT_EQ(RoleOf("Drops/ApproveKill")->role, "approve");
  EXPECT_EQ(RoleOf("interlock.v1.Seals/UnsealInterval")->role, "admin");
  EXPECT_EQ(RoleOf("AbandonAttempt")->role, "admin");
  EXPECT_EQ(RoleOf("ForceReleaseReservation")->role, "admin");
}

TEST(MethodRoles, AnUnknownMethodIsAFaultOfTheRequest) {
  const absl::Status status = RoleOf("SubmitBackfills").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "UNKNOWN_METHOD");
}

}  // namespace
}  // namespace interlock::server
