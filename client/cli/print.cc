#include "client/cli/print.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/field_text.h"
#include "client/cli/text_table.h"
#include "google/protobuf/util/json_util.h"

namespace interlock::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The messages at `path`; the message itself for "".
std::vector<const Message*> At(const Message& message, const std::string& path) {
  if (path.empty()) return {&message};
  const size_t dot = path.find('.');
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(path.substr(0, dot));
  if (field == nullptr) return {};
  const auto& of = *message.GetReflection();
  const std::string rest = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (!field->is_repeated()) {
    if (!of.HasField(message, field)) return {};
    return At(of.GetMessage(message, field), rest);
  }
  std::vector<const Message*> found;
  for (int i = 0; i < of.FieldSize(message, field); ++i) {
    for (const Message* inner : At(of.GetRepeatedMessage(message, field, i), rest)) {
      found.push_back(inner);
    }
  }
  // A map has no order of its own, and another in each reply.
  if (field->is_map() && rest.empty()) {
    std::sort(found.begin(), found.end(), [](const Message* a, const Message* b) {
      return FieldText(*a, "key") < FieldText(*b, "key");
    });
  }
  return found;
}

std::string Rows(const std::vector<const Message*>& messages, const std::vector<Column>& columns,
                 size_t width) {
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.emplace_back(column.title);
  TextTable table(titles);
  for (const Message* message : messages) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(FieldText(*message, column.path));
    table.Add(cells);
  }
  return table.Text(width);
}

std::string AllFields(const Message& message) {
  std::vector<const FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  TextList list;
  for (const FieldDescriptor* field : set) {
    if (field->name() == "notices") continue;
    const bool is_map_or_many = field->is_repeated() && field->message_type() != nullptr;
    if (!is_map_or_many) {
      list.Add(field->name(), FieldText(message, *field));
      continue;
    }
    const int size = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      const Message& element = message.GetReflection()->GetRepeatedMessage(message, field, i);
      std::vector<const FieldDescriptor*> inner;
      element.GetReflection()->ListFields(element, &inner);
      std::string text;
      for (const FieldDescriptor* part : inner) {
        absl::StrAppend(&text, text.empty() ? "" : "  ", FieldText(element, *part));
      }
      list.Add(i == 0 ? field->name() : "  …", text);
    }
  }
  return list.Text();
}

std::string Notices(const Message& message, const std::vector<Section>& view) {
  std::string text;
  std::vector<std::string> paths = {"notices"};
  for (const Section& section : view) {
    if (section.columns.empty()) paths.push_back(absl::StrCat(section.list, ".notices"));
  }
  for (const std::string& path : paths) {
    for (const Message* notice : At(message, path)) {
      const std::string remedy = FieldText(*notice, "remedy");
      absl::StrAppend(&text, "note: ", FieldText(*notice, "reason"), ": ",
                      FieldText(*notice, "message"), remedy.empty() ? "" : "; ", remedy, "\n");
    }
  }
  return text;
}

}  // namespace

std::string JsonText(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  return status.ok() ? text : "{}";
}

std::string TableText(const Message& message, const std::vector<Section>& view, size_t width) {
  std::string text;
  for (const Section& section : view) {
    const auto found = At(message, section.list);
    std::string part;
    if (!section.columns.empty()) {
      part = Rows(found, section.columns, width);
    } else {
      for (const Message* one : found) absl::StrAppend(&part, AllFields(*one));
    }
    if (!part.empty()) absl::StrAppend(&text, text.empty() ? "" : "\n", part);
  }
  return absl::StrCat(text, Notices(message, view));
}

}  // namespace interlock::cli
