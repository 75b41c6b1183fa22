// The API as protoc describes it.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace interlock::api {

// Interlock's own files and google.rpc, with comments; not what comes with protobuf.
const std::vector<const google::protobuf::FileDescriptor*>& Files();

// A message by its full name; ends the test program if there is none.
const google::protobuf::Descriptor& Message(const std::string& full_name);

// Every message of Files(), nested ones included, but not those that stand for map entries.
std::vector<const google::protobuf::Descriptor*> Messages();

// Every enum of Files(), nested ones included.
std::vector<const google::protobuf::EnumDescriptor*> Enums();

// Every method of Files().
std::vector<const google::protobuf::MethodDescriptor*> Methods();

}  // namespace interlock::api
