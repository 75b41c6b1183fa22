#include "server/datasource_name.h"

#include "absl/strings/str_cat.h"
#include "lib/druid/task_id.h"
#include "lib/time/status_reason.h"
#include "server/conversions/time.h"

namespace interlock::server {

absl::Status CheckDatasource(const std::string& name, const std::string& field) {
  if (name.empty()) return InvalidField(field, "is missing", "name it");
  const absl::Status named = druid::ValidateDruidName("datasource", name);
  if (named.ok()) return absl::OkStatus();
  const std::string found(named.message());
  const std::string would_do =
      "name it as Druid does: no '/', no '.' in front, no control characters, nothing beyond "
      "the basic plane";
  absl::Status status =
      WithReason(absl::InvalidArgumentError(absl::StrCat(field, ": ", found, "; ", would_do)),
                 "INVALID_DATASOURCE");
  AddFault(status, field, found, would_do);
  return status;
}

}  // namespace interlock::server
