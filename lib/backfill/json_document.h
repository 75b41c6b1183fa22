// JSON as somebody sent it: read without recursion, bounded in size and depth, and with
// members that stand twice found (Jackson takes the last one silently, so that what a
// person reads and what Druid does would differ), and integers that a tree can't hold.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "lib/backfill/spec_fault.h"
#include "rapidjson/document.h"

namespace interlock::backfill {

inline constexpr size_t kMaxSpecBytes = size_t{4} << 20;  // gRPC's own cap of a message
// Deep enough for any real spec; writing JSON recurses, so it must stay far from the
// stack's end.
inline constexpr int kMaxSpecDepth = 100;

// Reads `text` into `document`. False, with faults added, when it is no JSON object that
// may be looked into. Duplicate members and integers of more than 64 bits are faults too, but
// reading goes on.
bool ParseJsonObject(const std::string& text, rapidjson::Document* document, Findings* findings);

// Compact JSON text. `value` must come from ParseJsonObject (bounded depth).
std::string WriteJson(const rapidjson::Value& value);

// `pointer` with one more member, escaped as RFC 6901 wants it.
std::string PointerTo(absl::string_view pointer, absl::string_view member);
std::string PointerTo(absl::string_view pointer, size_t index);

// `text` as a JSON string, quotes included.
std::string JsonQuoted(absl::string_view text);

}  // namespace interlock::backfill
