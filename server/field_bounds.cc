#include "server/field_bounds.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
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
      if (field->name() == "page_size") CheckSize(message, *field, here);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) Descend(message, *field, here);
    }
  }

  absl::Status status() const { return status_; }

 private:
  void CheckTexts(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const size_t bound = BoundOf(absl::string_view(field.name().data(), field.name().size()));
    if (field.type() != FieldDescriptor::TYPE_STRING) return;
    const auto& reflection = *message.GetReflection();
    std::string space;
    if (!field.is_repeated()) {
      return Judge(path, reflection.GetStringReference(message, &field, &space), bound);
    }
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      Judge(absl::StrCat(path, "/", i),
            reflection.GetRepeatedStringReference(message, &field, i, &space), bound);
    }
  }

  void Descend(const Message& message, const FieldDescriptor& field, const std::string& path) {
    const auto& reflection = *message.GetReflection();
    if (!field.is_repeated()) return Check(reflection.GetMessage(message, &field), path);
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      Check(reflection.GetRepeatedMessage(message, &field, i), absl::StrCat(path, "/", i));
    }
  }

  void CheckSize(const Message& message, const FieldDescriptor& field, const std::string& path) {
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_INT32) return;
    const int32_t size = message.GetReflection()->GetInt32(message, &field);
    if (size < 0) Add(path, absl::StrCat("it is ", size), "0 or more", "PAGE_SIZE_INVALID", {});
  }

  void Judge(const std::string& path, const std::string& text, size_t bound) {
    // Nothing that is written down or shown has one, and PostgreSQL keeps none.
    if (text.find('\0') != std::string::npos) {
      Add(path, "it has a NUL byte", "leave that out", "FIELD_HAS_NUL", {});
    }
    if (bound == 0 || text.size() <= bound) return;
    Add(path, absl::StrCat("it has ", text.size(), " bytes"), absl::StrCat("at most ", bound),
        "FIELD_TOO_LONG", {{"bytes", absl::StrCat(text.size())}, {"most", absl::StrCat(bound)}});
  }

  // The first fault's reason is the status's.
  void Add(const std::string& path, const std::string& found, const std::string& would_do,
           absl::string_view reason, Metadata details) {
    if (status_.ok()) {
      details["field"] = path;
      status_ =
          WithReason(absl::InvalidArgumentError(absl::StrCat(path, ": ", found, "; ", would_do)),
                     reason, details);
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
