// A JSON value as text that is equal where the values are: members sorted by name,
// nothing between tokens, numbers and texts as they stood. A SAX handler, for a reader
// that hands numbers over as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rapidjson/rapidjson.h"

namespace interlock::druid {

class CanonicalJson {
 public:
  bool Null() { return Value("null"); }
  bool Bool(bool value) { return Value(value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    return Value(std::string(text, size));
  }
  bool String(const char* text, rapidjson::SizeType size, bool);
  bool Key(const char* text, rapidjson::SizeType size, bool);
  bool StartObject();
  bool EndObject(rapidjson::SizeType);
  bool StartArray();
  bool EndArray(rapidjson::SizeType);

  // Nothing is open any more: `text` has a whole value.
  bool whole() const { return open_.empty(); }
  const std::string& text() const { return text_; }
  // A member stood twice: which one counts, readers disagree about.
  bool has_duplicates() const { return has_duplicates_; }
  void Clear();

 private:
  struct Open {
    bool object = false;
    std::string key;
    std::vector<std::pair<std::string, std::string>> members;  // key (quoted) → text
    std::string elements;
  };

  bool Value(std::string text);

  std::vector<Open> open_;
  std::string text_;
  bool has_duplicates_ = false;
};

}  // namespace interlock::druid
