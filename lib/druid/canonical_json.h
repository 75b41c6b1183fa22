// A JSON value as text that is equal where the values are: members sorted by name,
// nothing between tokens, numbers and texts as they stood. A SAX handler, for a reader
// that hands numbers over as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "rapidjson/rapidjson.h"

namespace interlock::druid {

class CanonicalJson {
 public:
  bool Null() { return Value("null"); }
  bool Bool(bool value) { return Value(value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return Value(absl::string_view(text, size));
  }
  bool String(const char* text, rapidjson::SizeType size, bool);
  bool Key(const char* text, rapidjson::SizeType size, bool);
  bool StartObject() { return Start(/*object=*/true); }
  bool EndObject(rapidjson::SizeType);
  bool StartArray() { return Start(/*object=*/false); }
  bool EndArray(rapidjson::SizeType);

  // Nothing is open any more: `text` has a whole value.
  bool whole() const { return depth_ == 0; }
  const std::string& text() const { return text_; }
  // A member stood twice: which one counts, readers disagree about.
  bool has_duplicates() const { return has_duplicates_; }
  void Clear();

 private:
  // Kept when it is closed, for the next one of its depth: a million load specs are made
  // of the same few strings' memory.
  struct Open {
    bool object = false;
    std::vector<std::pair<std::string, std::string>> members;  // key (quoted) → text
    size_t count = 0;  // of the members, how many are this object's
    std::string elements;
  };

  bool Start(bool object);
  bool Value(absl::string_view text);
  bool Close(const std::string& text);

  std::vector<Open> open_;
  size_t depth_ = 0;
  std::string quoted_;
  std::string text_;
  bool has_duplicates_ = false;
};

}  // namespace interlock::druid
