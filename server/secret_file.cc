#include "server/secret_file.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace interlock::server {

absl::StatusOr<std::string> ReadSecretFile(const char* field, const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::InvalidArgumentError(absl::StrCat(field, ": cannot read ", path));
  std::ostringstream text;
  text << file.rdbuf();
  std::string secret = text.str();
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", path, " is empty"));
  }
  return secret;
}

}  // namespace interlock::server
