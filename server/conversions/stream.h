// Streams between lib/guard and the wire.
#pragma once

#include "interlock/v1/stream.pb.h"
#include "interlock/v1/streams.pb.h"
#include "lib/guard/check_append.h"
#include "lib/guard/streams.h"

namespace interlock::server {

// `now` is the store's clock: a tail that moves is told as of then.
void ToProto(const guard::Streams::Told& told, Instant now, v1::Stream* proto);
void ToProto(const guard::TailNotice& notice, v1::Notice* proto);

guard::Registration FromProto(const v1::RegisterStreamRequest& request);

guard::AppendQuestion FromProto(const v1::CheckAppendRequest& request);
void ToProto(const guard::AppendAnswer& answer, v1::CheckAppendResponse* proto);

}  // namespace interlock::server
