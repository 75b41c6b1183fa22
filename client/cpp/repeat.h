// A call that is asked again while its server is away.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/calls.h"
#include "google/protobuf/duration.pb.h"
#include "lib/time/clock.h"

namespace interlock::client {

// How long, and how a moment is waited.
struct Repeating {
  // Of one try.
  absl::Duration timeout = absl::Seconds(30);
  // How long a server may be away before its absence is the answer: a restart takes a
  // second or two, and some more on a machine that is busy.
  absl::Duration longest_away = absl::Seconds(10);
  // Waits; a test's returns at once.
  std::function<void(absl::Duration)> pause;
};

// True where nobody spoke, or a server said that it goes down or has too much to do: what
// was asked may be asked again, if it is safe to. Of a lost reply it is not known whether
// the call was done. An unreachable Druid is not that: its server did answer.
bool IsPassing(const absl::Status& status);

// Some 128 bits that no other call has, printable: for a request_id.
std::string RandomRequestId();

// Calls `method`, and again with the same request, at growing distances, while IsPassing().
// The caller sees to it that this is safe: a request_id, or a fencing token, or a method
// that only reads. `wait`, if given, is the field of the request that says how long the
// server may wait: it counts on top of the timeout, and shrinks by what was waited already.
absl::Status CallRepeated(Calls& calls, const Clock& clock, const Repeating& repeating,
                          const std::string& method, const google::protobuf::Message& request,
                          google::protobuf::Message& reply,
                          google::protobuf::Duration* wait = nullptr);

}  // namespace interlock::client
