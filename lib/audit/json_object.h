// A flat JSON object, for the before and after of an audit event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace interlock::audit {

// Keys in the order of the calls. Texts are UTF-8, which the edge has checked.
class JsonObject {
 public:
  JsonObject& Text(absl::string_view key, absl::string_view value);
  JsonObject& Number(absl::string_view key, int64_t value);
  JsonObject& Texts(absl::string_view key, const std::vector<std::string>& values);
  std::string ToString() const { return body_ + "}"; }

 private:
  void Key(absl::string_view key);
  std::string body_ = "{";
};

}  // namespace interlock::audit
