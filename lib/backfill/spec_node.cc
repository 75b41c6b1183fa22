#include "lib/backfill/spec_node.h"

#include "absl/strings/str_cat.h"

namespace interlock::backfill {
namespace {

constexpr size_t kMaxFoundBytes = 80;  // of a value quoted in a sentence

}  // namespace

Node Node::At(absl::string_view member) const {
  const rapidjson::Value* found = nullptr;
  if (is_object()) {
    const rapidjson::Value name(
        rapidjson::StringRef(member.data(), static_cast<rapidjson::SizeType>(member.size())));
    const auto it = value_->FindMember(name);
    if (it != value_->MemberEnd()) found = &it->value;
  }
  return Node(found, PointerTo(pointer_, member), findings_);
}

Node Node::At(size_t index) const {
  const rapidjson::Value* found = nullptr;
  if (index < size()) found = &(*value_)[static_cast<rapidjson::SizeType>(index)];
  return Node(found, PointerTo(pointer_, index), findings_);
}

std::vector<Node> Node::Elements() const {
  std::vector<Node> elements;
  if (!present()) return elements;
  if (!is_array()) {
    WrongKind("a list");
    return elements;
  }
  for (size_t i = 0; i < size(); ++i) elements.push_back(At(i));
  return elements;
}

std::vector<std::pair<std::string, Node>> Node::Members() const {
  std::vector<std::pair<std::string, Node>> members;
  if (!is_object()) return members;
  for (const auto& member : value_->GetObject()) {
    std::string name(member.name.GetString(), member.name.GetStringLength());
    Node node(&member.value, PointerTo(pointer_, name), findings_);
    members.emplace_back(std::move(name), std::move(node));
  }
  return members;
}

std::optional<std::string> Node::String() const {
  if (!present()) return std::nullopt;
  if (!value_->IsString()) {
    WrongKind("a string");
    return std::nullopt;
  }
  return std::string(value_->GetString(), value_->GetStringLength());
}

std::optional<bool> Node::Bool() const {
  if (!present()) return std::nullopt;
  if (!value_->IsBool()) {
    WrongKind("true or false");
    return std::nullopt;
  }
  return value_->GetBool();
}

std::optional<int64_t> Node::Int() const {
  if (!present()) return std::nullopt;
  if (!value_->IsInt64()) {
    WrongKind("a whole number");
    return std::nullopt;
  }
  return value_->GetInt64();
}

bool Node::Object() const {
  if (present() && !value_->IsObject()) WrongKind("an object");
  return is_object();
}

bool Node::RequiredObject(absl::string_view would_do) const {
  if (!present()) {
    Fault("is missing", std::string(would_do));
  } else if (!value_->IsObject()) {
    WrongKind("an object", would_do);
  }
  return is_object();
}

std::optional<std::string> Node::RequiredString(absl::string_view would_do) const {
  if (!present()) {
    Fault("is missing", std::string(would_do));
  } else if (!value_->IsString()) {
    WrongKind("a string", would_do);
  } else if (value_->GetStringLength() == 0) {
    Fault("is empty", std::string(would_do));
  } else {
    return std::string(value_->GetString(), value_->GetStringLength());
  }
  return std::nullopt;
}

std::vector<std::string> Node::Strings() const {
  std::vector<std::string> strings;
  for (const Node& element : Elements()) {
    if (!element.present()) {
      element.Fault("is null, not a string", "take it out");
    } else if (std::optional<std::string> text = element.String()) {
      strings.push_back(*std::move(text));
    }
  }
  return strings;
}

std::string Node::Found() const {
  if (!present()) return "nothing";
  std::string text = WriteJson(*value_);
  if (text.size() > kMaxFoundBytes) text = absl::StrCat(text.substr(0, kMaxFoundBytes), "…");
  return text;
}

void Node::WrongKind(absl::string_view wanted, absl::string_view would_do) const {
  Fault(absl::StrCat("is ", Found(), ", not ", wanted), std::string(would_do));
}

}  // namespace interlock::backfill
