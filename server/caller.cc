#include "server/caller.h"

#include "grpcpp/security/auth_context.h"

namespace interlock::server {
namespace {

constexpr size_t kMaxNameLength = 128;
constexpr char kHex[] = "0123456789ABCDEF";

// As in a URL: two names never become one. The slash is what parts an identity from the
// names that it gives itself below (HolderOf), so a name has none.
std::string Escaped(const grpc::string_ref& text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > ' ' && byte < 0x7f && c != '/' && c != '%';
    if (name.size() + (plain ? 1 : 3) > kMaxNameLength) break;
    if (plain) {
      name.push_back(c);
    } else {
      name.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return name;
}

}  // namespace

std::string IdentityOf(const grpc::ServerContextBase& context) {
  if (const auto auth = context.auth_context(); auth != nullptr && auth->IsPeerAuthenticated()) {
    const auto names = auth->FindPropertyValues("x509_common_name");
    if (!names.empty()) return "cert/" + Escaped(names.front());
  }
  const auto& metadata = context.client_metadata();
  const auto stated = metadata.find(kCallerKey);
  if (stated == metadata.end() || stated->second.empty()) return "loopback/anonymous";
  return "loopback/" + Escaped(stated->second);
}

audit::Caller CallerOf(const grpc::ServerContextBase& context, const std::string& request_id,
                       const std::string& reason) {
  // A reason of blanks is none.
  const bool said = reason.find_first_not_of(" \t\r\n\v\f") != std::string::npos;
  return {IdentityOf(context), request_id, said ? reason : "", context.peer()};
}

std::string HolderOf(const std::string& identity, const std::string& name) {
  return name.empty() ? identity : identity + "/" + name;
}

}  // namespace interlock::server
