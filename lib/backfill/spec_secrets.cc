#include "lib/backfill/spec_secrets.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/backfill/json_document.h"
#include "lib/druid/json.h"

namespace interlock::backfill {
namespace {

using Value = rapidjson::Value;

constexpr char kHidden[] = "hidden";

constexpr std::array<absl::string_view, 11> kSecretWords = {
    "password",   "passwd",       "secret",     "accesskey", "apikey",  "authorization",
    "credential", "sharedaccess", "privatekey", "userinfo",  "sastoken"};
// What a name ends with that says where a secret is, or whose, and not what it is.
constexpr std::array<absl::string_view, 11> kHarmlessEnds = {
    "id", "name", "arn", "var", "variable", "path", "file", "type", "uri", "url", "provider"};
// Parameters of addresses beside those that NamesASecret knows.
constexpr std::array<absl::string_view, 5> kSecretParameters = {"sig", "signature", "pwd", "key",
                                                                "auth"};

// Input sources whose secrets Druid takes as a password provider. Azure's are plain texts.
constexpr std::array<absl::string_view, 4> kWithProviders = {"s3", "oss", "http", "sql"};

std::string Squeezed(absl::string_view name) {
  std::string squeezed;
  for (const char c : name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) squeezed += absl::ascii_tolower(c);
  }
  return squeezed;
}

template <size_t N>
bool IsOneOf(absl::string_view text, const std::array<absl::string_view, N>& all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

// "HTTP_AUTHENTICATION_PASSWORD" for "httpAuthenticationPassword".
std::string VariableFor(absl::string_view member) {
  std::string variable = member == "password" ? "INPUT_" : "";
  for (const char c : member) {
    const auto letter = static_cast<unsigned char>(c);
    if (absl::ascii_isupper(letter) && !variable.empty() && variable.back() != '_') variable += '_';
    variable += absl::ascii_isalnum(letter) ? absl::ascii_toupper(letter) : '_';
  }
  return variable;
}

std::string ProviderFor(absl::string_view member) {
  return absl::StrCat(R"({"type":"environment","variable":)", JsonQuoted(VariableFor(member)), "}");
}

std::string TextOf(const Value& value) {
  return value.IsString() ? std::string(value.GetString(), value.GetStringLength()) : "";
}

std::string MemberText(const Value& object, const char* name) {
  const auto member = object.FindMember(name);
  return member == object.MemberEnd() ? "" : TextOf(member->value);
}

// Something that a password provider of Druid's gives at run time.
bool IsProvider(const Value& value) {
  return value.IsObject() && value.HasMember("type") && !MemberText(value, "type").empty() &&
         MemberText(value, "type") != "default";
}

bool IsPlain(const Value& value) {
  if (value.IsNumber()) return true;
  if (value.IsString()) return value.GetStringLength() > 0;
  if (!value.IsObject()) return false;
  return MemberText(value, "type") == "default" && !MemberText(value, "password").empty();
}

class Walk {
 public:
  Walk(rapidjson::Document& document, Findings& findings)
      : document_(document), findings_(findings) {}

  // `takes_provider`: whether Druid takes a password provider for the secrets below.
  void Into(Value& value, const std::string& pointer, bool takes_provider);

 private:
  void Member(const std::string& name, Value& value, const std::string& pointer,
              bool takes_provider);
  void Secret(const std::string& name, Value& value, const std::string& pointer,
              bool takes_provider);

  rapidjson::Document& document_;
  Findings& findings_;
};

void Walk::Secret(const std::string& name, Value& value, const std::string& pointer,
                  bool takes_provider) {
  SpecFault fault;
  fault.pointer = pointer;
  fault.found = "is a secret as it stands: it would be stored, and shown with the spec";
  fault.secret = true;
  value.SetString(kHidden);
  if (takes_provider) {
    const std::string provider = ProviderFor(name);
    rapidjson::Document parsed(&document_.GetAllocator());
    parsed.Parse(provider);
    value.Swap(parsed);
    fault.correction = provider;
    fault.would_do =
        absl::StrCat("write ", provider, ", and set that variable where Druid's tasks run");
  } else {
    fault.would_do = "take it out, and give it to Druid's own processes in their configuration";
  }
  findings_.Add(std::move(fault));
}

void Walk::Member(const std::string& name, Value& value, const std::string& pointer,
                  bool takes_provider) {
  // Druid's default provider holds a password in plain, but for one of a key's id.
  const bool in_plain = value.IsObject() && IsPlain(value);
  if (in_plain && absl::EndsWith(Squeezed(name), "id")) return;
  // Azure's account key is called `key`, among its properties.
  const bool named = NamesASecret(name) || in_plain ||
                     (name == "key" && absl::StrContains(pointer, "/properties/"));
  if (!named) return Into(value, pointer, takes_provider);
  if (IsPlain(value)) return Secret(name, value, pointer, takes_provider);
  if (value.IsArray()) {
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      Member(name, value[i], PointerTo(pointer, static_cast<size_t>(i)), takes_provider);
    }
    return;
  }
  if (!IsProvider(value)) Into(value, pointer, takes_provider);
}

void Walk::Into(Value& value, const std::string& pointer, bool takes_provider) {
  if (value.IsString() && CarriesASecret(TextOf(value))) {
    value.SetString(kHidden);
    SpecFault fault;
    fault.pointer = pointer;
    fault.found =
        "is an address with a password or a signature in it: it would be stored, and shown with "
        "the spec";
    fault.would_do =
        "write it without, and give the password as an environment password provider, or to "
        "Druid's own processes";
    fault.secret = true;
    findings_.Add(std::move(fault));
  } else if (value.IsArray()) {
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
      Into(value[i], PointerTo(pointer, static_cast<size_t>(i)), takes_provider);
    }
  } else if (value.IsObject()) {
    const std::string type = MemberText(value, "type");
    if (IsOneOf(type, kWithProviders)) takes_provider = true;
    if (absl::StartsWith(type, "azure") || type == "google") takes_provider = false;
    for (auto& member : value.GetObject()) {
      const std::string name = TextOf(member.name);
      if (name == "data" && type == "inline") continue;  // rows
      // A header is a text, whatever the source takes elsewhere.
      const bool provider = takes_provider && !absl::StrContains(pointer, "/requestHeaders");
      Member(name, member.value, PointerTo(pointer, name), provider);
    }
  }
}

// The literals of a query, each with what stands before it.
std::vector<std::pair<std::string, std::string>> LiteralsOf(const std::string& query) {
  std::vector<std::pair<std::string, std::string>> literals;
  size_t at = 0;
  while (true) {
    const size_t open = query.find('\'', at);
    if (open == std::string::npos) return literals;
    std::string text;
    size_t i = open + 1;
    for (; i < query.size(); ++i) {
      if (query[i] != '\'') {
        text += query[i];
      } else if (i + 1 < query.size() && query[i + 1] == '\'') {
        text += query[i++];
      } else {
        break;
      }
    }
    literals.emplace_back(query.substr(at, open - at), std::move(text));
    at = std::min(i + 1, query.size());
  }
}

// "secretAccessKey" of "…, secretAccessKey => ".
std::string ArgumentBefore(const std::string& before) {
  std::string text(absl::StripAsciiWhitespace(before));
  if (!absl::EndsWith(text, "=>")) return "";
  text.resize(text.size() - 2);
  text = std::string(absl::StripTrailingAsciiWhitespace(text));
  size_t start = text.size();
  while (start > 0 && (absl::ascii_isalnum(static_cast<unsigned char>(text[start - 1])) ||
                       text[start - 1] == '_')) {
    --start;
  }
  return text.substr(start);
}

// Secrets in a JSON text, as faults of the place where the text stands.
void FindInJson(const std::string& json, const char* place, Findings* findings) {
  rapidjson::Document document;
  std::string why_not;
  // Bounded in depth, as the walk through it is a recursion.
  if (!druid::ParseJson(json, &document, &why_not) || !document.IsObject()) return;
  Findings found;
  Walk(document, found).Into(document, "", false);
  for (const SpecFault& fault : found.faults()) {
    findings->Add({place, absl::StrCat("has, at ", fault.pointer, " of its JSON, a secret"),
                   R"(write {"type":"environment","variable":"…"} there, and set that variable )"
                   "where Druid's tasks run",
                   std::nullopt, false, true});
  }
}

}  // namespace

bool NamesASecret(absl::string_view member) {
  const std::string name = Squeezed(member);
  for (const absl::string_view end : kHarmlessEnds) {
    if (absl::EndsWith(name, end)) return false;
  }
  // Of a session, a bearer, an API, a store: whose it is changes nothing.
  if (absl::EndsWith(name, "token")) return true;
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](absl::string_view word) { return absl::StrContains(name, word); });
}

bool CarriesASecret(absl::string_view text) {
  const size_t slashes = text.find("//");
  if (slashes != absl::string_view::npos) {
    const absl::string_view host = text.substr(slashes + 2);
    const size_t at = host.substr(0, host.find_first_of("/?#")).find('@');
    if (at != absl::string_view::npos && absl::StrContains(host.substr(0, at), ":")) return true;
  }
  // Oracle's form: jdbc:oracle:thin:user/password@host.
  const size_t thin = text.find(":thin:");
  if (thin != absl::string_view::npos) {
    const absl::string_view user = text.substr(thin + 6, text.substr(thin + 6).find('@'));
    if (absl::StrContains(text.substr(thin), "@") && absl::StrContains(user, "/")) return true;
  }
  if (slashes == absl::string_view::npos && !absl::StartsWith(text, "jdbc:")) return false;
  for (size_t i = text.find_first_of("?;&"); i != absl::string_view::npos;
       i = text.find_first_of("?;&", i + 1)) {
    const absl::string_view rest = text.substr(i + 1);
    const size_t equals = rest.find_first_of("=?;&");
    if (equals == absl::string_view::npos || rest[equals] != '=') continue;
    if (equals + 1 >= rest.size() || rest[equals + 1] == '&' || rest[equals + 1] == ';') continue;
    const absl::string_view name = rest.substr(0, equals);
    const std::string squeezed = Squeezed(name);
    if (NamesASecret(name) || IsOneOf(squeezed, kSecretParameters) ||
        absl::EndsWith(squeezed, "signature")) {
      return true;
    }
  }
  return false;
}

void TakeSecretsOut(rapidjson::Document* task, Findings* findings) {
  if (!task->IsObject()) return;
  Walk walk(*task, *findings);
  for (auto& member : task->GetObject()) {
    const std::string name = TextOf(member.name);
    if (name != "spec" || !member.value.IsObject()) {
      if (member.value.IsObject()) walk.Into(member.value, PointerTo("", name), false);
      continue;
    }
    // What dataSchema names are columns.
    for (auto& part : member.value.GetObject()) {
      const std::string place = TextOf(part.name);
      if (place == "dataSchema") continue;
      walk.Into(part.value, PointerTo("/spec", place), false);
    }
  }
}

void FindSecretsInQuery(const std::string& query, const std::string& context, Findings* findings) {
  constexpr char kQuery[] = "/sql/query";
  for (const auto& [before, literal] : LiteralsOf(query)) {
    const std::string argument = ArgumentBefore(before);
    if (NamesASecret(argument) && !literal.empty()) {
      findings->Add({kQuery, absl::StrCat("has a secret as it stands, after ", argument, " =>"),
                     "give it to Druid's own processes, or read by EXTERN with an environment "
                     "password provider",
                     std::nullopt, false, true});
    } else if (CarriesASecret(literal)) {
      findings->Add({kQuery, "has an address with a password or a signature in it",
                     "write it without", std::nullopt, false, true});
    } else {
      FindInJson(literal, kQuery, findings);
    }
  }
  FindInJson(context, "/sql/context", findings);
}

}  // namespace interlock::backfill
