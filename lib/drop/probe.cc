#include "lib/drop/probe.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "rapidjson/document.h"

namespace interlock::drop {
namespace {

// By whole components, with `..` resolved by name.
bool Inside(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const std::filesystem::path relative =
      path.lexically_normal().lexically_relative(folder.lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

std::vector<std::optional<bool>> LocalProbe::Look(
    const std::vector<std::string>& load_specs) const {
  std::vector<std::optional<bool>> there;
  there.reserve(load_specs.size());
  for (const std::string& load_spec : load_specs) there.push_back(LookAtOne(load_spec));
  return there;
}

std::optional<bool> LocalProbe::LookAtOne(const std::string& load_spec) const {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(load_spec);
  if (document.HasParseError() || !document.IsObject()) return std::nullopt;
  const auto type = document.FindMember("type");
  const auto path = document.FindMember("path");
  if (type == document.MemberEnd() || !type->value.IsString()) return std::nullopt;
  if (std::string(type->value.GetString()) != "local") return std::nullopt;
  if (path == document.MemberEnd() || !path->value.IsString()) return std::nullopt;
  const std::filesystem::path file(path->value.GetString());
  const bool seen = std::any_of(folders_.begin(), folders_.end(),
                                [&](const std::string& folder) { return Inside(folder, file); });
  if (!seen) return std::nullopt;
  std::error_code error;
  const bool exists = std::filesystem::exists(file, error);
  // "No such file" is an answer; "not allowed to look" is none.
  return error ? std::nullopt : std::optional<bool>(exists);
}

std::vector<std::optional<bool>> ManyProbes::Look(
    const std::vector<std::string>& load_specs) const {
  std::vector<std::optional<bool>> there(load_specs.size());
  for (const auto& probe : probes_) {
    std::vector<std::string> open;
    std::vector<size_t> places;
    for (size_t i = 0; i < there.size(); ++i) {
      if (there[i]) continue;
      open.push_back(load_specs[i]);
      places.push_back(i);
    }
    const std::vector<std::optional<bool>> found = probe->Look(open);
    for (size_t i = 0; i < places.size(); ++i) there[places[i]] = found[i];
  }
  return there;
}

}  // namespace interlock::drop
