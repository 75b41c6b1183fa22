// Durations between the wire and the clock.
#pragma once

#include <chrono>

#include "google/protobuf/duration.pb.h"

namespace interlock::client {

inline std::chrono::nanoseconds FromProto(const google::protobuf::Duration& proto) {
  return std::chrono::seconds(proto.seconds()) + std::chrono::nanoseconds(proto.nanos());
}

inline void ToProto(std::chrono::nanoseconds duration, google::protobuf::Duration& proto) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
  proto.set_seconds(whole.count());
  proto.set_nanos(static_cast<int32_t>((duration - whole).count()));
}

}  // namespace interlock::client
