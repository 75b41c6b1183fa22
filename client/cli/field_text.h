// Fields of a message as people read them.
#pragma once

#include <string>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace interlock::cli {

// The field at `path` (`rows.counted`); "" where it is not set. Instants to the second,
// durations as `1h30m`, enums by name, repeated ones joined by commas, intervals as
// ShortInterval. A message inside is told by its most telling fields.
std::string FieldText(const google::protobuf::Message& message, const std::string& path);
std::string FieldText(const google::protobuf::Message& message,
                      const google::protobuf::FieldDescriptor& field);

// `2026-07-16T13` for that whole hour, and so for days, months, years and minutes: as it
// can be typed. Other intervals without seconds and milliseconds that are zero; what is no
// interval stays as it is.
std::string ShortInterval(const std::string& text);

}  // namespace interlock::cli
