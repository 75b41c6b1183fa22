#include "server/field_not_built.h"

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::server {

absl::Status FieldNotBuilt(const std::string& field) {
  absl::Status status = WithReason(absl::UnimplementedError(absl::StrCat(
                                       "/", field, " is not built in this version; leave it out")),
                                   "NOT_YET_BUILT", {{"field", field}});
  AddFault(status, "/" + field, "is not built in this version", "leave it out");
  return status;
}

}  // namespace interlock::server
