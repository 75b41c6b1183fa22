#include "server/field_bounds.h"

#include <array>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::array<absl::string_view, 6> kBodies = {
    "spec", "query", "context", "supervisor_spec", "expression", "filter"};
constexpr std::array<absl::string_view, 14> kNames = {"datasource",
                                                      "datasources",
                                                      "datasource_pattern",
                                                      "corrections_datasource",
                                                      "same_as_datasource",
                                                      "stream",
                                                      "supervisor_id",
                                                      "holder",
                                                      "name",
                                                      "job",
                                                      "label",
                                                      "labels",
                                                      "identity",
                                                      "key"};

template <size_t n>
bool In(const std::array<absl::string_view, n>& names, absl::string_view name) {
  for (const absl::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}

// 0 for none.
size_t BoundOf(absl::string_view name) {
  if (In(kBodies, name)) return 0;
  if (In(kNames, name)) return kMaxNameBytes;
  if (name == "purpose") return kMaxPurposeBytes;
  if (name == "reason" || absl::EndsWith(name, "_reason")) return kMaxReasonBytes;
  return kMaxTextBytes;
}

class Bounds {
 public:
  void Check(const Message& message, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const std::string here = absl::StrCat(path, "/", field->name());
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) CheckTexts(message, *field, here);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) Descend(message, *field, here);
    }
  }

  absl::Status status() const { return status_; }

 private:
  void CheckTexts(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const size_t bound = BoundOf(absl::string_view(field.name().data(), field.name().size()));
    if (bound == 0 || field.type() != FieldDescriptor::TYPE_STRING) return;
    const auto& reflection = *message.GetReflection();
    std::string space;
    if (!field.is_repeated()) {
      return Judge(path, reflection.GetStringReference(message, &field, &space).size(), bound);
    }
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const size_t size = reflection.GetRepeatedStringReference(message, &field, i, &space).size();
      Judge(absl::StrCat(path, "/", i), size, bound);
    }
  }

  void Descend(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    if (!field.is_repeated()) return Check(reflection.GetMessage(message, &field), path);
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      Check(reflection.GetRepeatedMessage(message, &field, i), absl::StrCat(path, "/", i));
    }
  }

  void Judge(const std::string& path, size_t size, size_t bound) {
    if (size <= bound) return;
    const std::string found = absl::StrCat("it has ", size, " bytes");
    const std::string would_do = absl::StrCat("at most ", bound);
    if (status_.ok()) {
      status_ = WithReason(
          absl::InvalidArgumentError(absl::StrCat(path, ": ", found, "; ", would_do)),
          "FIELD_TOO_LONG",
          {{"field", path}, {"bytes", absl::StrCat(size)}, {"most", absl::StrCat(bound)}});
    }
    AddFault(status_, path, found, would_do);
  }

  absl::Status status_;
};

}  // namespace

absl::Status CheckBounds(const Message& request) {
  Bounds bounds;
  bounds.Check(request, "");
  return bounds.status();
}

}  // namespace interlock::server
