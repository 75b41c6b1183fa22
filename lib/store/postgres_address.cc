#include "lib/store/postgres_address.h"

#include <libpq-fe.h>

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

// A dead peer is noticed within about ten seconds, whether something is being sent (user
// time-out, in milliseconds) or waited for (keepalives, in seconds).
const std::map<std::string, std::string>& Defaults() {
  static const auto* const kDefaults =
      new std::map<std::string, std::string>{{"target_session_attrs", "read-write"},
                                             {"connect_timeout", "3"},
                                             {"keepalives_idle", "4"},
                                             {"keepalives_interval", "2"},
                                             {"keepalives_count", "3"},
                                             {"tcp_user_timeout", "10000"},
                                             {"application_name", "interlockd"},
                                             {"client_encoding", "UTF8"}};
  return *kDefaults;
}

std::string Quoted(const std::string& value) {
  return absl::StrCat("'", absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// libpq's own text about a bad string quotes parts of it: the password may be one.
absl::StatusOr<std::map<std::string, std::string>> Parse(const std::string& text) {
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parsed(
      PQconninfoParse(text.c_str(), &error), PQconninfoFree);
  PQfreemem(error);
  if (parsed == nullptr) return BadConnectionString("libpq can't read it");
  std::map<std::string, std::string> values;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values[option->keyword] = option->val;
  }
  return values;
}

}  // namespace

std::string PostgresAddress::WithoutPassword(absl::string_view message) const {
  const std::string text(message.data(), message.size());
  return password.empty() ? text : absl::StrReplaceAll(text, {{password, "***"}});
}

absl::StatusOr<PostgresAddress> AddressOf(const PostgresOptions& options) {
  const absl::StatusOr<std::string> text = options.connection_string();
  if (!text.ok()) return text.status();
  absl::StatusOr<std::map<std::string, std::string>> values = Parse(*text);
  if (!values.ok()) return values.status();
  if (values->count("password") == 0 && options.password) {
    absl::StatusOr<std::string> password = options.password();
    if (!password.ok()) return password.status();
    if (!password->empty()) (*values)["password"] = *std::move(password);
  }
  values->insert(Defaults().begin(), Defaults().end());
  PostgresAddress address;
  for (const auto& [name, value] : *values) {
    absl::StrAppend(&address.text, name, "=", Quoted(value), " ");
  }
  address.password = (*values)["password"];
  return address;
}

}  // namespace interlock::store
