#include "server/lease_settings.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "server/conversions/time.h"
#include "server/lease_options.h"

namespace interlock::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Fields of limits that are read at the start alone.
constexpr std::array<const char*, 4> kFixed = {"max_partitions_per_unit", "max_partitions_per_call",
                                               "max_request_bytes", "max_spec_bytes"};

// Whether the two messages differ in that field, whatever its type.
bool Differ(const Message& a, const Message& b, const FieldDescriptor& field) {
  const auto only = [&field](const Message& message) {
    std::unique_ptr<Message> copy(message.New());
    copy->CopyFrom(message);
    std::vector<const FieldDescriptor*> fields;
    copy->GetReflection()->ListFields(*copy, &fields);
    for (const FieldDescriptor* other : fields) {
      if (other != &field) copy->GetReflection()->ClearField(copy.get(), other);
    }
    return copy->SerializeAsString();
  };
  return only(a) != only(b);
}

}  // namespace

void TakeLeaseSettings(const config::v1::ServerConfig& from, config::v1::ServerConfig& to) {
  const config::v1::Limits fixed = to.limits();
  *to.mutable_limits() = from.limits();
  for (const char* name : kFixed) {
    const FieldDescriptor* field = fixed.GetDescriptor()->FindFieldByName(name);
    to.mutable_limits()->GetReflection()->SetInt32(to.mutable_limits(), field,
                                                   fixed.GetReflection()->GetInt32(fixed, field));
  }
}

std::vector<std::string> Differences(const config::v1::ServerConfig& a,
                                     const config::v1::ServerConfig& b) {
  std::vector<std::string> different;
  const auto* sections = a.GetDescriptor();
  for (int i = 0; i < sections->field_count(); ++i) {
    const FieldDescriptor* section = sections->field(i);
    if (section->name() == "log") continue;
    if (section->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || section->is_repeated()) {
      if (Differ(a, b, *section)) different.push_back(section->name());
      continue;
    }
    const Message& one = a.GetReflection()->GetMessage(a, section);
    const Message& other = b.GetReflection()->GetMessage(b, section);
    for (int j = 0; j < section->message_type()->field_count(); ++j) {
      const FieldDescriptor* field = section->message_type()->field(j);
      if (!Differ(one, other, *field)) continue;
      different.push_back(absl::StrCat(section->name(), ".", field->name()));
    }
  }
  return different;
}

LeaseSettings::LeaseSettings(const config::v1::ServerConfig& config) { Take(config); }

void LeaseSettings::Take(const config::v1::ServerConfig& config) {
  auto values = std::make_shared<Values>();
  values->limits = LeaseLimits(config);
  values->default_ttl = FromProto(config.limits().default_ttl());
  MutexLock lock(mutex_);
  values_ = std::move(values);
}

std::shared_ptr<const LeaseSettings::Values> LeaseSettings::now() const {
  MutexLock lock(mutex_);
  return values_;
}

}  // namespace interlock::server
