#include "server/page_token.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "lib/time/fnv.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// What was asked, without where in it: the same bytes for the same request.
std::string Asked(const Message& request) {
  const std::unique_ptr<Message> asked(request.New());
  asked->CopyFrom(request);
  for (const char* of_page : {"page_token", "page_size"}) {
    const FieldDescriptor* field = asked->GetDescriptor()->FindFieldByName(of_page);
    if (field != nullptr) asked->GetReflection()->ClearField(asked.get(), field);
  }
  std::string bytes;
  google::protobuf::io::StringOutputStream out(&bytes);
  google::protobuf::io::CodedOutputStream coded(&out);
  coded.SetSerializationDeterministic(true);
  asked->SerializeToCodedStream(&coded);
  coded.Trim();
  return absl::StrCat(std::string(request.GetDescriptor()->full_name()), "\n", bytes);
}

std::string MarkOf(const Message& request) {
  return absl::StrCat(absl::Hex(Fnv1a32(Asked(request))));
}

std::string TokenOf(const Message& request) {
  const FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("page_token");
  return field == nullptr ? "" : request.GetReflection()->GetString(request, field);
}

absl::Status BadPageToken(const std::string& token) {
  const std::string found = absl::StrCat("'", token, "' is no page token of this list");
  const std::string would_do =
      "take next_page_token of the page before, and leave all else as it was";
  absl::Status status =
      WithReason(absl::InvalidArgumentError(absl::StrCat("/page_token: ", found, "; ", would_do)),
                 "BAD_PAGE_TOKEN");
  AddFault(status, "/page_token", found, would_do);
  return status;
}

}  // namespace

absl::StatusOr<std::string> PagePlace(const Message& request) {
  const std::string token = TokenOf(request);
  if (token.empty()) return token;
  const size_t dot = token.rfind('.');
  if (dot == std::string::npos || dot == 0 || token.substr(dot + 1) != MarkOf(request)) {
    return BadPageToken(token);
  }
  return token.substr(0, dot);
}

std::string PageToken(const Message& request, const std::string& place) {
  return place.empty() ? "" : absl::StrCat(place, ".", MarkOf(request));
}

}  // namespace interlock::server
