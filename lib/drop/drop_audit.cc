#include "lib/drop/drop_audit.h"

#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"

namespace interlock::drop {

absl::Status RecordChange(store::Transaction& tx, const char* method, const audit::Caller& caller,
                          const Drop& drop, State before) {
  audit::Event event;
  event.caller = caller;
  event.method = method;
  event.datasource = drop.datasource;
  event.subject = drop.id;
  event.before = audit::JsonObject().Text("state", Name(before)).ToString();
  event.after = audit::JsonObject()
                    .Text("state", Name(drop.state))
                    .Text("digest", drop.digest)
                    .Number("segments", drop.segment_count)
                    .ToString();
  return audit::Record(tx, event);
}

}  // namespace interlock::drop
