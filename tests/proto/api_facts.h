// What clients of an API rely on, as plain lines that can be kept, read and compared.
#pragma once

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>
#include <vector>

namespace interlock::api {

// Each fact has a key that says of what it speaks and a value that clients rely on:
//
//   field interlock.v1.Reservation 6    fencing_token int64 single
//   value interlock.v1.Reservation.State 1    ACTIVE
//   method interlock.v1.Server GetStatus    interlock.v1.GetStatusRequest -> …
//
// Names count as much as numbers: scripts read proto3 JSON, people write text format.
using Facts = std::map<std::string, std::string>;

// The facts of these files, in no particular order of theirs.
Facts FactsOf(const std::vector<const google::protobuf::FileDescriptor*>& files);

// One line a fact, `key: value`, sorted.
std::string Print(const Facts& facts);

// What Print printed; a line without `: ` is left out.
Facts Parse(const std::string& text);

// What a client built against `before` would trip over with `after`, one sentence each.
// Additions break nobody. A field or a value may go if its number and its name are reserved.
std::vector<std::string> Breaks(const Facts& before, const Facts& after);

}  // namespace interlock::api
