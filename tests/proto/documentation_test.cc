// The proto is the documentation: nothing in it goes without a word.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "tests/proto/api.h"

namespace interlock::api {
namespace {

using google::protobuf::SourceLocation;

// True if a comment of at least two words stands right above it. A detached comment, or
// one behind it, is not where the generators look.
template <typename D>
bool IsDocumented(const D& thing) {
  SourceLocation where;
  if (!thing.GetSourceLocation(&where)) return false;
  const std::string& text = where.leading_comments;
  return std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c); }) >
         3;
}

TEST(Documentation, EveryMessageAndFieldHasIt) {
  for (const auto* message : Messages()) {
    EXPECT_TRUE(IsDocumented(*message)) << message->full_name();
    for (int i = 0; i < message->field_count(); ++i) {
      EXPECT_TRUE(IsDocumented(*message->field(i))) << message->field(i)->full_name();
    }
    for (int i = 0; i < message->real_oneof_decl_count(); ++i) {
      EXPECT_TRUE(IsDocumented(*message->oneof_decl(i))) << message->oneof_decl(i)->full_name();
    }
  }
}

TEST(Documentation, EveryEnumAndValueHasIt) {
  for (const auto* type : Enums()) {
    EXPECT_TRUE(IsDocumented(*type)) << type->full_name();
    for (int i = 0; i < type->value_count(); ++i) {
      EXPECT_TRUE(IsDocumented(*type->value(i))) << type->value(i)->full_name();
    }
  }
}

TEST(Documentation, EveryServiceAndMethodHasIt) {
  for (const auto* method : Methods()) {
    EXPECT_TRUE(IsDocumented(*method->service())) << method->service()->full_name();
    EXPECT_TRUE(IsDocumented(*method)) << method->full_name();
  }
}

}  // namespace
}  // namespace interlock::api
