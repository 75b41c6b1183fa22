// The API as data: methods by name, and messages made from their types.
#pragma once

#include <memory>
#include <string>

namespace google::protobuf {
class Descriptor;
class Message;
class MethodDescriptor;
}  // namespace google::protobuf

namespace interlock::cli {

// `Drops.GetDrop`. Ends the process for a name that the API does not have: names stand in
// our own table, and a test walks it.
const google::protobuf::MethodDescriptor& MethodNamed(const std::string& name);
// The same; null for such a name.
const google::protobuf::MethodDescriptor* FindMethod(const std::string& name);

std::unique_ptr<google::protobuf::Message> NewMessage(const google::protobuf::Descriptor& type);

}  // namespace interlock::cli
