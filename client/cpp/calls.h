// Interlock's methods, called by name.
//
// One interface for all of them in place of a generated stub each: who calls needs the
// messages alone, which compile in a tenth of the time, and a test answers without a wire.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace google::protobuf {
class Message;
}

namespace interlock::client {

// Safe to call from any thread. Methods are named as in the API: "Drops.GetDrop". What
// goes wrong comes back as the server meant it: canonical code, one line for people, and
// what lib/time/status_reason.h reads (reason, faults, blockers, when to try again). An
// error that never reached a server, or lost its reply, has the reason UNREACHABLE
// (UNAVAILABLE) or NO_ANSWER (DEADLINE_EXCEEDED); of neither is it known whether the
// call was done.
class Calls {
 public:
  virtual ~Calls() = default;

  // `timeout` counts on the monotonic clock; absl::InfiniteDuration() for none.
  virtual absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                            google::protobuf::Message& reply, absl::Duration timeout) = 0;

  // A method that streams. `reply` is filled anew before each `on_reply`; where that gives
  // false, the stream is given up and the result is OK.
  virtual absl::Status Watch(const std::string& method, const google::protobuf::Message& request,
                             google::protobuf::Message& reply, absl::Duration timeout,
                             const std::function<bool()>& on_reply) = 0;
};

}  // namespace interlock::client
