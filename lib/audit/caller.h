// Who asks: carried from the edge into every function that changes something.
#pragma once

#include <string>

namespace interlock::audit {

struct Caller {
  std::string identity;    // as authenticated at the edge: "airflow", "loopback/ada"
  std::string request_id;  // the caller's own id of this call; "" where it gave none
  std::string reason;      // why, in the caller's words; "" where it gave none
  std::string peer = {};   // the address the call came from; "" for our own doing
};

}  // namespace interlock::audit
