// One value of a spec together with the place where it stands, so that whatever is wrong
// with it can be said with its JSON pointer. A missing member and null are the same, as
// they are to Jackson.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/spec_fault.h"

namespace interlock::backfill {

class Node {
 public:
  Node(const rapidjson::Value* value, std::string pointer, Findings* findings)
      : value_(value), pointer_(std::move(pointer)), findings_(findings) {}

  bool present() const { return value_ != nullptr && !value_->IsNull(); }
  bool is_object() const { return present() && value_->IsObject(); }
  bool is_array() const { return present() && value_->IsArray(); }
  bool is_string() const { return present() && value_->IsString(); }
  const std::string& pointer() const { return pointer_; }
  Findings* findings() const { return findings_; }
  const rapidjson::Value* value() const { return value_; }

  // The member, or a missing node at the place where it would stand.
  Node At(absl::string_view member) const;
  size_t size() const { return is_array() ? value_->Size() : 0; }
  Node At(size_t index) const;
  // Elements of an array; a fault when something else stands here.
  std::vector<Node> Elements() const;
  // Members of an object, in the order written.
  std::vector<std::pair<std::string, Node>> Members() const;

  // The value; nullopt when missing, and a fault when of another kind. Jackson would
  // take "true" for true; a person who reads the spec may not.
  std::optional<std::string> String() const;
  std::optional<bool> Bool() const;
  std::optional<int64_t> Int() const;
  // True for an object; a fault when something else stands here.
  bool Object() const;
  // The same for one that must be there.
  bool RequiredObject(absl::string_view would_do) const;
  // The string of a member that must be there and say something.
  std::optional<std::string> RequiredString(absl::string_view would_do) const;
  // A list of strings; a fault for each element that is none.
  std::vector<std::string> Strings() const;

  void Fault(std::string found, std::string would_do,
             std::optional<std::string> correction = std::nullopt) const {
    findings_->Add({pointer_, std::move(found), std::move(would_do), std::move(correction)});
  }
  void Warn(std::string found, std::string would_do) const {
    findings_->Warn(pointer_, std::move(found), std::move(would_do));
  }
  // What stands here, short enough for a sentence.
  std::string Found() const;

 private:
  void WrongKind(absl::string_view wanted, absl::string_view would_do = "") const;

  const rapidjson::Value* value_;
  std::string pointer_;
  Findings* findings_;
};

}  // namespace interlock::backfill
