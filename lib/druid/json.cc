#include "lib/druid/json.h"

#include "absl/strings/str_cat.h"
#include "lib/druid/json_depth.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace interlock::druid {
namespace {

constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

// What Document::Populate calls to be filled.
struct Generator {
  rapidjson::MemoryStream stream;
  rapidjson::Reader reader;
  rapidjson::ParseResult result;
  bool too_deep = false;

  bool operator()(rapidjson::Document& document) {
    DepthLimit<rapidjson::Document> limited(document, kMaxJsonDepth);
    result = reader.Parse<kParseFlags>(stream, limited);
    too_deep = limited.too_deep();
    return !result.IsError();
  }
};

}  // namespace

bool ParseJson(absl::string_view text, rapidjson::Document* document, std::string* why) {
  Generator generator{rapidjson::MemoryStream(text.data(), text.size()), {}, {}};
  document->Populate(generator);
  if (generator.too_deep) {
    *why = absl::StrCat("JSON nested deeper than ", kMaxJsonDepth);
    return false;
  }
  if (generator.result.IsError()) {
    *why = absl::StrCat("no valid JSON at byte ", generator.result.Offset(), " of ", text.size(),
                        ": ", rapidjson::GetParseError_En(generator.result.Code()));
    return false;
  }
  return true;
}

const rapidjson::Value* Member(const rapidjson::Value& value, const char* name) {
  if (!value.IsObject()) return nullptr;
  const auto member = value.FindMember(name);
  if (member == value.MemberEnd() || member->value.IsNull()) return nullptr;
  return &member->value;
}

std::string TextMember(const rapidjson::Value& value, const char* name) {
  const rapidjson::Value* member = Member(value, name);
  if (member == nullptr || !member->IsString()) return "";
  return std::string(member->GetString(), member->GetStringLength());
}

std::optional<int64_t> IntMember(const rapidjson::Value& value, const char* name) {
  const rapidjson::Value* member = Member(value, name);
  if (member == nullptr || !member->IsInt64()) return std::nullopt;
  return member->GetInt64();
}

std::optional<bool> BoolMember(const rapidjson::Value& value, const char* name) {
  const rapidjson::Value* member = Member(value, name);
  if (member == nullptr || !member->IsBool()) return std::nullopt;
  return member->GetBool();
}

std::string WriteJson(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string QuoteJson(absl::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace interlock::druid
