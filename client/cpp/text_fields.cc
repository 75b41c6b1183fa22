#include "client/cpp/text_fields.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status NotUtf8(const std::string& path) {
  absl::Status status = WithReason(
      absl::InvalidArgumentError(absl::StrCat(path, ": is not UTF-8; write it in UTF-8")),
      "NOT_UTF8", {{"field", path}});
  AddFault(status, path, "is not UTF-8", "write it in UTF-8");
  return status;
}

absl::Status Check(const Message& message, const std::string& path);

absl::Status CheckField(const Message& message, const FieldDescriptor& field,
                        const std::string& path) {
  const auto& reflection = *message.GetReflection();
  const bool text = field.type() == FieldDescriptor::TYPE_STRING;
  if (!text && field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return absl::OkStatus();
  if (!field.is_repeated()) {
    if (!text) return Check(reflection.GetMessage(message, &field), path);
    return IsUtf8(reflection.GetString(message, &field)) ? absl::OkStatus() : NotUtf8(path);
  }
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const std::string here = absl::StrCat(path, "/", i);
    absl::Status status;
    if (!text) {
      status = Check(reflection.GetRepeatedMessage(message, &field, i), here);
    } else if (!IsUtf8(reflection.GetRepeatedString(message, &field, i))) {
      status = NotUtf8(here);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Check(const Message& message, const std::string& path) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    absl::Status status = CheckField(message, *field, absl::StrCat(path, "/", field->name()));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// How long the sequence is that begins with `lead`, and what its second byte may be; 0 for
// a byte that begins none.
size_t LengthOf(unsigned char lead, unsigned char& least, unsigned char& most) {
  least = 0x80;
  most = 0xBF;
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead == 0xE0) least = 0xA0;
  if (lead == 0xED) most = 0x9F;
  if (lead < 0xF0) return 3;
  if (lead == 0xF0) least = 0x90;
  if (lead == 0xF4) most = 0x8F;
  return lead < 0xF5 ? 4 : 0;
}

}  // namespace

absl::Status CheckTexts(const Message& request) { return Check(request, ""); }

bool IsUtf8(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    unsigned char least = 0;
    unsigned char most = 0;
    const size_t length = LengthOf(static_cast<unsigned char>(text[at]), least, most);
    if (length == 0 || at + length > text.size()) return false;
    for (size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      if (byte < least || byte > most) return false;
      least = 0x80;
      most = 0xBF;
    }
    at += length;
  }
  return true;
}

}  // namespace interlock::client
