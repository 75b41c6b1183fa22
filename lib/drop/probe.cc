#include "lib/drop/probe.h"

#include <filesystem>
#include <system_error>

#include "rapidjson/document.h"

namespace interlock::drop {

std::optional<bool> LocalProbe::Exists(const std::string& load_spec) const {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(load_spec);
  if (document.HasParseError() || !document.IsObject()) return std::nullopt;
  const auto type = document.FindMember("type");
  const auto path = document.FindMember("path");
  if (type == document.MemberEnd() || !type->value.IsString()) return std::nullopt;
  if (std::string(type->value.GetString()) != "local") return std::nullopt;
  if (path == document.MemberEnd() || !path->value.IsString()) return std::nullopt;
  std::error_code error;
  const bool exists = std::filesystem::exists(path->value.GetString(), error);
  // "No such file" is an answer; "not allowed to look" is none.
  return error ? std::nullopt : std::optional<bool>(exists);
}

}  // namespace interlock::drop
