// A SAX handler before another one: stops the parser where values nest too deep. The
// parser itself does not recurse; what reads or writes its tree does.
#pragma once

#include "rapidjson/rapidjson.h"

namespace interlock::druid {

template <class Handler>
class DepthLimit {
 public:
  DepthLimit(Handler& next, int deepest) : next_(next), left_(deepest) {}

  bool too_deep() const { return left_ < 0; }

  bool Null() { return next_.Null(); }
  bool Bool(bool value) { return next_.Bool(value); }
  bool Int(int value) { return next_.Int(value); }
  bool Uint(unsigned value) { return next_.Uint(value); }
  bool Int64(int64_t value) { return next_.Int64(value); }
  bool Uint64(uint64_t value) { return next_.Uint64(value); }
  bool Double(double value) { return next_.Double(value); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool copy) {
    return next_.RawNumber(text, size, copy);
  }
  bool String(const char* text, rapidjson::SizeType size, bool copy) {
    return next_.String(text, size, copy);
  }
  bool Key(const char* text, rapidjson::SizeType size, bool copy) {
    return next_.Key(text, size, copy);
  }
  bool StartObject() { return --left_ >= 0 && next_.StartObject(); }
  bool StartArray() { return --left_ >= 0 && next_.StartArray(); }
  bool EndObject(rapidjson::SizeType members) {
    ++left_;
    return next_.EndObject(members);
  }
  bool EndArray(rapidjson::SizeType elements) {
    ++left_;
    return next_.EndArray(elements);
  }

 private:
  Handler& next_;
  int left_;
};

}  // namespace interlock::druid
