#include "client/cli/api.h"

#include <cstdio>
#include <cstdlib>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
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

namespace interlock::cli {
namespace {

// A file of the API registers itself only where something refers to it.
void LinkApi() {
  using google::protobuf::LinkMessageReflection;
  LinkMessageReflection<v1::AuditEvent>();
  LinkMessageReflection<v1::GetBackfillRequest>();
  LinkMessageReflection<v1::GetDropRequest>();
  LinkMessageReflection<v1::ListFindingsRequest>();
  LinkMessageReflection<v1::ReserveIntervalRequest>();
  LinkMessageReflection<v1::GetJobRequest>();
  LinkMessageReflection<v1::GetReservationRequest>();
  LinkMessageReflection<v1::GetSealRequest>();
  LinkMessageReflection<v1::GetStatusRequest>();
  LinkMessageReflection<v1::ListStreamsRequest>();
}

}  // namespace

const google::protobuf::MethodDescriptor* FindMethod(const std::string& name) {
  LinkApi();
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName("interlock.v1." +
                                                                              name);
}

const google::protobuf::MethodDescriptor& MethodNamed(const std::string& name) {
  const auto* method = FindMethod(name);
  if (method != nullptr) return *method;
  std::fprintf(stderr, "interlockctl: the API has no method %s\n", name.c_str());
  std::abort();
}

std::unique_ptr<google::protobuf::Message> NewMessage(const google::protobuf::Descriptor& type) {
  auto* factory = google::protobuf::MessageFactory::generated_factory();
  return std::unique_ptr<google::protobuf::Message>(factory->GetPrototype(&type)->New());
}

}  // namespace interlock::cli
