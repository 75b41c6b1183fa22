// A reply on stdout: as tables for people, as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "client/cli/verb.h"
#include "google/protobuf/message.h"

namespace interlock::cli {

// Proto3 JSON on one line, with the proto's own field names; fields at their default are
// printed too, so that a script finds each. 64-bit numbers are strings there, as proto3
// JSON has them.
std::string JsonText(const google::protobuf::Message& message);

// The JSON of `message` with one list more, of `elements`.
template <class Elements>
std::string JsonTextWith(const google::protobuf::Message& message, const std::string& name,
                         const Elements& elements) {
  std::string text = JsonText(message);
  text.pop_back();
  text += (text.size() > 1 ? ",\"" : "\"") + name + "\":[";
  bool first = true;
  for (const auto& element : elements) {
    if (!first) text += ',';
    first = false;
    text += JsonText(element);
  }
  return text + "]}";
}

// Its tables, each that has rows, with an empty line between; then the reply's notices.
// Tables fit into `width` characters; 0: as wide as they are.
std::string TableText(const google::protobuf::Message& message, const std::vector<Section>& view,
                      size_t width = 0);

}  // namespace interlock::cli
