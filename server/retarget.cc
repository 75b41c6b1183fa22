#include "server/retarget.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/backfill/sql_work.h"
#include "lib/druid/json.h"
#include "rapidjson/pointer.h"
#include "re2/re2.h"

namespace interlock::server {
namespace {

// A query with another target: what follows its first REPLACE INTO.
std::string WithQueryTarget(backfill::SqlWork work, const std::string& datasource) {
  static const RE2 kTarget(R"re((?is)(.*?\breplace\s+into\s+)(?:"druid"\s*\.\s*|druid\s*\.\s*)?)re"
                           R"re((?:"(?:[^"]|"")*"|[\w-]+))re");
  re2::StringPiece rest = work.query;
  std::string before;
  if (!RE2::Consume(&rest, kTarget, &before)) return "";
  work.query = absl::StrCat(before, "\"", absl::StrReplaceAll(datasource, {{"\"", "\"\""}}), "\"",
                            rest.as_string());
  return backfill::ToJson(work);
}

}  // namespace

std::string Retarget(const std::string& spec, const std::string& datasource) {
  if (backfill::IsSql(spec)) {
    return WithQueryTarget(backfill::SqlWorkFrom(spec), datasource);
  }
  rapidjson::Document document;
  std::string why;
  if (!druid::ParseJson(spec, &document, &why)) return "";
  rapidjson::Pointer("/spec/dataSchema/dataSource")
      .Set(document, rapidjson::Value(datasource, document.GetAllocator()));
  return druid::WriteJson(document);
}

}  // namespace interlock::server
