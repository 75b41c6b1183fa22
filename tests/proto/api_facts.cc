#include "tests/proto/api_facts.h"

#include <initializer_list>
#include <sstream>

namespace interlock::api {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

std::string TypeOf(const FieldDescriptor& field) {
  if (field.message_type() != nullptr) return field.message_type()->full_name();
  if (field.enum_type() != nullptr) return field.enum_type()->full_name();
  return field.type_name();
}

// `optional` adds presence, and a oneof makes its members exclude each other.
std::string CardinalityOf(const FieldDescriptor& field) {
  if (field.is_repeated()) return "repeated";
  if (field.has_optional_keyword()) return "optional";
  if (field.containing_oneof() != nullptr) return "oneof " + field.containing_oneof()->name();
  return "single";
}

void AddEnum(const EnumDescriptor& type, Facts& facts) {
  facts["enum " + type.full_name()] = "enum";
  for (int i = 0; i < type.value_count(); ++i) {
    const auto& value = *type.value(i);
    facts["value " + type.full_name() + " " + std::to_string(value.number())] = value.name();
  }
  for (int i = 0; i < type.reserved_range_count(); ++i) {
    for (int n = type.reserved_range(i)->start; n <= type.reserved_range(i)->end; ++n) {
      facts["reserved " + type.full_name() + " " + std::to_string(n)] = "number";
    }
  }
  for (int i = 0; i < type.reserved_name_count(); ++i) {
    facts["reserved " + type.full_name() + " " + type.reserved_name(i)] = "name";
  }
}

void AddReserved(const Descriptor& type, Facts& facts) {
  for (int i = 0; i < type.reserved_range_count(); ++i) {
    for (int n = type.reserved_range(i)->start; n < type.reserved_range(i)->end; ++n) {
      facts["reserved " + type.full_name() + " " + std::to_string(n)] = "number";
    }
  }
  for (int i = 0; i < type.reserved_name_count(); ++i) {
    facts["reserved " + type.full_name() + " " + type.reserved_name(i)] = "name";
  }
}

void AddMessage(const Descriptor& type, Facts& facts) {
  facts["message " + type.full_name()] = "message";
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    facts["field " + type.full_name() + " " + std::to_string(field.number())] =
        field.name() + " " + TypeOf(field) + " " + CardinalityOf(field);
  }
  AddReserved(type, facts);
  for (int i = 0; i < type.enum_type_count(); ++i) AddEnum(*type.enum_type(i), facts);
  for (int i = 0; i < type.nested_type_count(); ++i) AddMessage(*type.nested_type(i), facts);
}

void AddService(const ServiceDescriptor& service, Facts& facts) {
  facts["service " + service.full_name()] = "service";
  for (int i = 0; i < service.method_count(); ++i) {
    const MethodDescriptor& method = *service.method(i);
    facts["method " + service.full_name() + " " + method.name()] =
        std::string(method.client_streaming() ? "stream " : "") + method.input_type()->full_name() +
        " -> " + (method.server_streaming() ? "stream " : "") + method.output_type()->full_name();
  }
}

std::string Joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const auto& part : parts) text += part;
  return text;
}

bool Has(const Facts& facts, const std::string& key) { return facts.count(key) != 0; }

// True if the number and the name of a field or value that is gone can't come to mean
// something else: a client that still sends it must not be misread.
bool IsReserved(const std::string& key, const std::string& value, const Facts& after) {
  std::istringstream words(key);
  std::string kind, type, number;
  words >> kind >> type >> number;
  if (kind != "field" && kind != "value") return false;
  const std::string name = value.substr(0, value.find(' '));
  return Has(after, "reserved " + type + " " + number) &&
         Has(after, "reserved " + type + " " + name);
}

}  // namespace

Facts FactsOf(const std::vector<const FileDescriptor*>& files) {
  Facts facts;
  for (const FileDescriptor* file : files) {
    for (int i = 0; i < file->message_type_count(); ++i) AddMessage(*file->message_type(i), facts);
    for (int i = 0; i < file->enum_type_count(); ++i) AddEnum(*file->enum_type(i), facts);
    for (int i = 0; i < file->service_count(); ++i) AddService(*file->service(i), facts);
  }
  return facts;
}

std::string Print(const Facts& facts) {
  std::string text;
  for (const auto& [key, value] : facts) text.append(key).append(": ").append(value).append("\n");
  return text;
}

Facts Parse(const std::string& text) {
  Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) facts[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return facts;
}

std::vector<std::string> Breaks(const Facts& before, const Facts& after) {
  std::vector<std::string> breaks;
  for (const auto& [key, value] : before) {
    const auto now = after.find(key);
    if (now == after.end()) {
      if (!IsReserved(key, value, after))
        breaks.push_back(Joined({key, " is gone; it was: ", value}));
    } else if (now->second != value) {
      breaks.push_back(Joined({key, " was: ", value, "; is now: ", now->second}));
    }
  }
  return breaks;
}

}  // namespace interlock::api
