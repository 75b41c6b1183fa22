// What makes one method look like the next: a caller who knows one knows all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/proto/api.h"

namespace interlock::api {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool Has(const Descriptor& message, const std::string& field) {
  return message.FindFieldByName(field) != nullptr;
}

// Methods that change nothing; all kOthers are mutating.
bool IsReading(const std::string& method) {
  static const std::set<std::string> kOthers = {"VerifySingleVersion", "VerifyAudit", "CheckAppend",
                                                "ExplainInterval",     "Diagnose",    "TestPolicy"};
  return StartsWith(method, "Get") || StartsWith(method, "List") || StartsWith(method, "Watch") ||
         kOthers.count(method) != 0;
}

TEST(Conventions, TheCoordinatorHasTheFourVerbsOfTheMissionAndNothingElse) {
  std::vector<std::string> verbs;
  for (const auto* method : Methods()) {
    if (method->service()->name() == "IngestionCoordinator") verbs.push_back(method->name());
  }
  EXPECT_THAT(verbs, ElementsAre("ReserveInterval", "SubmitBackfill", "VerifySingleVersion",
                                 "DropAndKill"));
}

TEST(Conventions, EveryMethodHasARequestAndAResponseOfItsOwn) {
  for (const auto* method : Methods()) {
    EXPECT_EQ(method->input_type()->name(), method->name() + "Request");
    EXPECT_EQ(method->output_type()->name(), method->name() + "Response");
    EXPECT_FALSE(method->client_streaming()) << method->full_name();
  }
}

// A renewal and a release are safe to repeat by their token; they carry no request id.
TEST(Conventions, EveryMutatingCallIsSafeToRepeat) {
  for (const auto* method : Methods()) {
    if (IsReading(method->name())) continue;
    EXPECT_TRUE(Has(*method->input_type(), "request_id") ||
                Has(*method->input_type(), "fencing_token"))
        << method->full_name();
  }
}

TEST(Conventions, EveryMutatingCallButALeasesOwnCanSayWhy) {
  for (const auto* method : Methods()) {
    const bool leases_own =
        method->name() == "RenewReservation" || method->name() == "ReleaseReservation";
    if (IsReading(method->name()) || leases_own) continue;
    EXPECT_TRUE(Has(*method->input_type(), "reason")) << method->full_name();
  }
}

TEST(Conventions, EveryListHasPages) {
  for (const auto* method : Methods()) {
    if (!StartsWith(method->name(), "List")) continue;
    EXPECT_TRUE(Has(*method->input_type(), "page_size")) << method->full_name();
    EXPECT_TRUE(Has(*method->input_type(), "page_token")) << method->full_name();
    EXPECT_TRUE(Has(*method->output_type(), "next_page_token")) << method->full_name();
  }
}

TEST(Conventions, WhoActsUnderALeaseShowsItsToken) {
  for (const auto* message : Messages()) {
    if (!EndsWith(message->name(), "Request") || !Has(*message, "reservation_id")) continue;
    const bool reads_or_forces = message->name() == "GetReservationRequest" ||
                                 message->name() == "ForceReleaseReservationRequest";
    EXPECT_EQ(Has(*message, "fencing_token"), !reads_or_forces) << message->full_name();
  }
}

TEST(Conventions, AnEnumBeginsWithUnspecifiedAndStandsInAMessage) {
  for (const auto* type : Enums()) {
    EXPECT_TRUE(EndsWith(type->value(0)->name(), "_UNSPECIFIED")) << type->full_name();
    EXPECT_EQ(type->value(0)->number(), 0) << type->full_name();
    EXPECT_NE(type->containing_type(), nullptr) << type->full_name();
  }
}

TEST(Conventions, InstantsAreTimestampsNamedTime) {
  for (const auto* message : Messages()) {
    if (message->file()->package() != "interlock.v1") continue;
    for (int i = 0; i < message->field_count(); ++i) {
      const FieldDescriptor& field = *message->field(i);
      const bool is_timestamp = field.message_type() != nullptr &&
                                field.message_type()->full_name() == "google.protobuf.Timestamp";
      EXPECT_EQ(is_timestamp, EndsWith(field.name(), "_time")) << field.full_name();
    }
  }
}

TEST(Conventions, AResourceIsNamedAlikeEverywhere) {
  const std::set<std::string> vague = {"id", "name_id", "ds", "data_source", "time", "token"};
  for (const auto* message : Messages()) {
    for (int i = 0; i < message->field_count(); ++i) {
      EXPECT_EQ(vague.count(message->field(i)->name()), 0u) << message->field(i)->full_name();
    }
  }
}

// A flag of interlockctl that no field stands behind would have to be ignored.
TEST(Conventions, EveryFlagOfTheFourVerbsHasItsField) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> flags = {
      {"ReserveIntervalRequest",
       {"mode", "ttl", "purpose", "holder", "skip_held", "wait", "request_id"}},
      {"SubmitBackfillRequest",
       {"spec", "sql", "job", "intervals", "validate_only", "reprocess", "max_parallel",
        "newest_first", "expect", "expect_generation", "plan_revision", "skip_held",
        "accept_widening", "tail_policy", "max_pause", "correction", "request_id", "reservation_id",
        "fencing_token"}},
      {"VerifySingleVersionRequest", {"level", "expect", "wait"}},
      {"DropAndKillRequest", {"reason", "validate_only", "window", "floor", "approval"}},
      {"SealIntervalRequest", {"reason", "snapshot"}},
      {"RowExpectation", {"rows", "min_rows", "max_unparseable", "count_metric"}},
      {"RegisterStreamRequest", {"stream", "tail", "supervisor_id"}},
      {"UnsealIntervalRequest", {"reason", "unseal_for"}},
      {"ListAuditEventsRequest", {"datasource", "since_time"}},
      {"TestPolicyRequest", {"identity", "method", "datasource"}},
  };
  for (const auto& [message, fields] : flags) {
    for (const auto& field : fields) {
      EXPECT_TRUE(Has(Message("interlock.v1." + message), field)) << message << "." << field;
    }
  }
}

}  // namespace
}  // namespace interlock::api
