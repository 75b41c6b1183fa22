#include "server/version.h"

namespace interlock::server {

const char kCommit[] = INTERLOCK_COMMIT;

}  // namespace interlock::server
