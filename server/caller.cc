#include "server/caller.h"

#include "grpcpp/security/auth_context.h"

namespace interlock::server {
namespace {

constexpr size_t kMaxNameLength = 128;

std::string Printable(const grpc::string_ref& text) {
  std::string name;
  for (const char c : text) {
    if (name.size() == kMaxNameLength) break;
    name.push_back(c > ' ' && c < 0x7f ? c : '_');
  }
  return name;
}

}  // namespace

std::string IdentityOf(const grpc::ServerContextBase& context) {
  if (const auto auth = context.auth_context(); auth != nullptr && auth->IsPeerAuthenticated()) {
    const auto names = auth->FindPropertyValues("x509_common_name");
    if (!names.empty()) return "cert/" + Printable(names.front());
  }
  const auto& metadata = context.client_metadata();
  const auto stated = metadata.find(kCallerKey);
  if (stated == metadata.end() || stated->second.empty()) return "loopback/anonymous";
  return "loopback/" + Printable(stated->second);
}

audit::Caller CallerOf(const grpc::ServerContextBase& context, const std::string& request_id,
                       const std::string& reason) {
  return {IdentityOf(context), request_id, reason, context.peer()};
}

std::string HolderOf(const std::string& identity, const std::string& name) {
  return name.empty() ? identity : identity + "/" + name;
}

}  // namespace interlock::server
