#include "tests/proto/api.h"

#include <google/protobuf/descriptor.pb.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

namespace interlock::api {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorSet;
using google::protobuf::MethodDescriptor;

[[noreturn]] void Die(const std::string& why) {
  std::cerr << why << "\n";
  std::abort();
}

struct Api {
  DescriptorPool pool;
  std::vector<const FileDescriptor*> files;
};

const Api& Loaded() {
  static const Api* const kApi = [] {
    auto* loaded = new Api;
    std::ifstream in(INTERLOCK_API_DESCRIPTION, std::ios::binary);
    FileDescriptorSet set;
    if (!set.ParseFromIstream(&in)) Die("unreadable: " INTERLOCK_API_DESCRIPTION);
    for (const auto& file : set.file()) {
      const FileDescriptor* built = loaded->pool.BuildFile(file);
      if (built == nullptr) Die("protoc described what does not build: " + file.name());
      if (file.package() != "google.protobuf") loaded->files.push_back(built);
    }
    return loaded;
  }();
  return *kApi;
}

void Collect(const Descriptor& type, std::vector<const Descriptor*>& messages,
             std::vector<const EnumDescriptor*>& enums) {
  if (type.options().map_entry()) return;
  messages.push_back(&type);
  for (int i = 0; i < type.enum_type_count(); ++i) enums.push_back(type.enum_type(i));
  for (int i = 0; i < type.nested_type_count(); ++i) {
    Collect(*type.nested_type(i), messages, enums);
  }
}

void CollectAll(std::vector<const Descriptor*>& messages,
                std::vector<const EnumDescriptor*>& enums) {
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      Collect(*file->message_type(i), messages, enums);
    }
    for (int i = 0; i < file->enum_type_count(); ++i) enums.push_back(file->enum_type(i));
  }
}

}  // namespace

const std::vector<const FileDescriptor*>& Files() { return Loaded().files; }

const Descriptor& Message(const std::string& full_name) {
  const Descriptor* found = Loaded().pool.FindMessageTypeByName(full_name);
  if (found == nullptr) Die("no message " + full_name);
  return *found;
}

std::vector<const Descriptor*> Messages() {
  std::vector<const Descriptor*> messages;
  std::vector<const EnumDescriptor*> enums;
  CollectAll(messages, enums);
  return messages;
}

std::vector<const EnumDescriptor*> Enums() {
  std::vector<const Descriptor*> messages;
  std::vector<const EnumDescriptor*> enums;
  CollectAll(messages, enums);
  return enums;
}

std::vector<const MethodDescriptor*> Methods() {
  std::vector<const MethodDescriptor*> methods;
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        methods.push_back(file->service(i)->method(j));
      }
    }
  }
  return methods;
}

}  // namespace interlock::api
