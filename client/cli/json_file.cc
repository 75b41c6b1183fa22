#include "client/cli/json_file.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/util/json_util.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace interlock::cli {
namespace {

absl::Status Malformed(const std::string& why) {
  return WithReason(absl::InvalidArgumentError(why), "JSON_MALFORMED");
}

std::string Written(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

// What people write, as proto3 JSON has it.
void ToProtoJson(rapidjson::Document& document, const google::protobuf::Descriptor& type) {
  for (auto& member : document.GetObject()) {
    const auto* field = type.FindFieldByName(std::string(member.name.GetString()));
    if (field == nullptr) continue;
    std::string text;
    if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING &&
        member.value.IsObject()) {
      text = Written(member.value);
    } else if (field->message_type() == google::protobuf::Duration::descriptor() &&
               member.value.IsString()) {
      const auto duration = ParseDuration(std::string(member.value.GetString()));
      if (!duration.ok()) continue;  // its own form, or a fault that protobuf names
      text = absl::StrCat(absl::ToDoubleSeconds(*duration), "s");
    } else {
      continue;
    }
    member.value.SetString(text, document.GetAllocator());
  }
}

}  // namespace

absl::Status ReadJson(const std::string& json, google::protobuf::Message& request,
                      const std::string& field) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json);
  if (document.HasParseError()) {
    return Malformed(absl::StrCat(rapidjson::GetParseError_En(document.GetParseError()),
                                  " at character ", document.GetErrorOffset()));
  }
  if (!document.IsObject()) return Malformed("it is not a JSON object");
  const auto* descriptor = request.GetDescriptor()->FindFieldByName(field);
  auto* message = request.GetReflection()->MutableMessage(&request, descriptor);
  ToProtoJson(document, *message->GetDescriptor());
  const auto status = google::protobuf::util::JsonStringToMessage(Written(document), message);
  if (status.ok()) return absl::OkStatus();
  return Malformed(std::string(status.message().data(), status.message().size()));
}

}  // namespace interlock::cli
