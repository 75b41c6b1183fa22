// Clients that were built yesterday keep working: the API of today holds every fact of
// the baseline. `tests/proto/refresh` writes the baseline anew after additions.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>

#include "tests/proto/api.h"
#include "tests/proto/api_facts.h"

namespace interlock::api {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Baseline() {
  std::ifstream in(INTERLOCK_API_BASELINE);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void AddField(DescriptorProto& message, const std::string& name, int number) {
  FieldDescriptorProto& field = *message.add_field();
  field.set_name(name);
  field.set_number(number);
  field.set_type(FieldDescriptorProto::TYPE_INT32);
  field.set_label(FieldDescriptorProto::LABEL_OPTIONAL);
}

// package p;
// message M { int32 a = 1; enum E { Z = 0; A = 1; } }
// message N { reserved 7; reserved "seven"; }
// service S { rpc R(M) returns (M); }
FileDescriptorProto SmallApi() {
  FileDescriptorProto file;
  file.set_name("p.proto");
  file.set_package("p");
  file.set_syntax("proto3");
  auto& m = *file.add_message_type();
  m.set_name("M");
  AddField(m, "a", 1);
  auto& e = *m.add_enum_type();
  e.set_name("E");
  e.add_value()->set_name("Z");
  e.mutable_value(0)->set_number(0);
  e.add_value()->set_name("A");
  e.mutable_value(1)->set_number(1);
  auto& n = *file.add_message_type();
  n.set_name("N");
  n.add_reserved_name("seven");
  n.add_reserved_range()->set_start(7);
  n.mutable_reserved_range(0)->set_end(8);
  auto& service = *file.add_service();
  service.set_name("S");
  auto& method = *service.add_method();
  method.set_name("R");
  method.set_input_type(".p.M");
  method.set_output_type(".p.M");
  return file;
}

FieldDescriptorProto& FieldA(FileDescriptorProto& file) {
  return *file.mutable_message_type(0)->mutable_field(0);
}

Facts FactsOfFile(const FileDescriptorProto& file) {
  google::protobuf::DescriptorPool pool;
  const auto* built = pool.BuildFile(file);
  EXPECT_NE(built, nullptr) << file.DebugString();
  return built == nullptr ? Facts() : FactsOf({built});
}

// What a change of the small API breaks.
std::vector<std::string> BrokenBy(const std::function<void(FileDescriptorProto&)>& change) {
  FileDescriptorProto changed = SmallApi();
  change(changed);
  return Breaks(FactsOfFile(SmallApi()), FactsOfFile(changed));
}

TEST(WireCompatibility, TheApiHoldsEveryFactOfTheBaseline) {
  const Facts now = FactsOf(Files());
  // How tests/proto/refresh asks for a new baseline; it has looked at the breaks before.
  if (std::getenv("INTERLOCK_REFRESH_BASELINE") != nullptr) {
    std::ofstream(INTERLOCK_API_BASELINE) << Print(now);
  }
  const Facts baseline = Parse(Baseline());
  ASSERT_GT(baseline.size(), 500u) << INTERLOCK_API_BASELINE;
  EXPECT_THAT(Breaks(baseline, now), IsEmpty());
  const auto additions = std::count_if(
      now.begin(), now.end(), [&](const auto& fact) { return baseline.count(fact.first) == 0; });
  if (additions > 0) {
    std::cout << additions << " additions that the baseline does not protect yet: "
              << "tests/proto/refresh\n";
  }
}

TEST(WireCompatibility, APrintedBaselineReadsBackAsItWas) {
  const Facts facts = FactsOf(Files());
  EXPECT_EQ(Parse(Print(facts)), facts);
}

TEST(WireCompatibility, AdditionsBreakNobody) {
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                AddField(*file.mutable_message_type(0), "b", 2);
                file.mutable_message_type(0)->mutable_enum_type(0)->add_value()->set_name("B");
                file.mutable_message_type(0)->mutable_enum_type(0)->mutable_value(2)->set_number(2);
                file.add_message_type()->set_name("O");
                *file.mutable_service(0)->add_method() = file.service(0).method(0);
                file.mutable_service(0)->mutable_method(1)->set_name("Q");
              }),
              IsEmpty());
}

TEST(WireCompatibility, AFieldThatChangesItsNumberBreaks) {
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) { FieldA(file).set_number(2); }),
              ElementsAre("field p.M 1 is gone; it was: a int32 single"));
}

TEST(WireCompatibility, AFieldThatChangesItsTypeBreaks) {
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                FieldA(file).set_type(FieldDescriptorProto::TYPE_INT64);
              }),
              ElementsAre("field p.M 1 was: a int32 single; is now: a int64 single"));
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                FieldA(file).set_type(FieldDescriptorProto::TYPE_MESSAGE);
                FieldA(file).set_type_name(".p.N");
              }),
              ElementsAre(HasSubstr("is now: a p.N single")));
}

TEST(WireCompatibility, AFieldThatChangesItsNameBreaksAsJsonHasIt) {
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) { FieldA(file).set_name("b"); }),
              ElementsAre(HasSubstr("is now: b int32 single")));
}

TEST(WireCompatibility, AFieldThatChangesHowOftenItIsThereBreaks) {
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                FieldA(file).set_label(FieldDescriptorProto::LABEL_REPEATED);
              }),
              ElementsAre(HasSubstr("is now: a int32 repeated")));
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                file.mutable_message_type(0)->add_oneof_decl()->set_name("o");
                FieldA(file).set_oneof_index(0);
              }),
              ElementsAre(HasSubstr("is now: a int32 oneof o")));
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                file.mutable_message_type(0)->add_oneof_decl()->set_name("_a");
                FieldA(file).set_oneof_index(0);
                FieldA(file).set_proto3_optional(true);
              }),
              ElementsAre(HasSubstr("is now: a int32 optional")));
}

TEST(WireCompatibility, AFieldMayGoOnlyIfNumberAndNameAreReserved) {
  const auto remove = [](FileDescriptorProto& file) {
    file.mutable_message_type(0)->clear_field();
  };
  const auto reserve_number = [](FileDescriptorProto& file) {
    auto* range = file.mutable_message_type(0)->add_reserved_range();
    range->set_start(1);
    range->set_end(2);
  };
  EXPECT_THAT(BrokenBy(remove), ElementsAre(HasSubstr("field p.M 1 is gone")));
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) {
                remove(file);
                reserve_number(file);
              }),
              ElementsAre(HasSubstr("field p.M 1 is gone")));
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) {
                remove(file);
                reserve_number(file);
                file.mutable_message_type(0)->add_reserved_name("a");
              }),
              IsEmpty());
}

TEST(WireCompatibility, WhatIsReservedStaysSo) {
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) {
                file.mutable_message_type(1)->clear_reserved_range();
                file.mutable_message_type(1)->clear_reserved_name();
              }),
              UnorderedElementsAre(HasSubstr("reserved p.N 7 is gone"),
                                   HasSubstr("reserved p.N seven is gone")));
}

TEST(WireCompatibility, AnEnumValueThatChangesBreaks) {
  const auto value = [](FileDescriptorProto& file) {
    return file.mutable_message_type(0)->mutable_enum_type(0)->mutable_value(1);
  };
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) { value(file)->set_number(2); }),
              ElementsAre("value p.M.E 1 is gone; it was: A"));
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) { value(file)->set_name("B"); }),
              ElementsAre("value p.M.E 1 was: A; is now: B"));
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) {
                auto* type = file.mutable_message_type(0)->mutable_enum_type(0);
                type->mutable_value()->RemoveLast();
                type->add_reserved_name("A");
                type->add_reserved_range()->set_start(1);
                type->mutable_reserved_range(0)->set_end(1);
              }),
              IsEmpty());
}

TEST(WireCompatibility, AMethodThatChangesItsSignatureBreaks) {
  const auto method = [](FileDescriptorProto& file) {
    return file.mutable_service(0)->mutable_method(0);
  };
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) { method(file)->set_input_type(".p.N"); }),
              ElementsAre("method p.S R was: p.M -> p.M; is now: p.N -> p.M"));
  EXPECT_THAT(
      BrokenBy([&](FileDescriptorProto& file) { method(file)->set_server_streaming(true); }),
      ElementsAre(HasSubstr("is now: p.M -> stream p.M")));
  EXPECT_THAT(BrokenBy([&](FileDescriptorProto& file) { method(file)->set_name("Q"); }),
              ElementsAre(HasSubstr("method p.S R is gone")));
}

TEST(WireCompatibility, AMessageOrServiceThatGoesBreaks) {
  EXPECT_THAT(
      BrokenBy([](FileDescriptorProto& file) { file.mutable_message_type(1)->set_name("O"); }),
      ::testing::Contains("message p.N is gone; it was: message"));
  EXPECT_THAT(BrokenBy([](FileDescriptorProto& file) { file.mutable_service(0)->set_name("T"); }),
              ::testing::Contains("service p.S is gone; it was: service"));
}

// The published numbers of google.rpc, on which every standard client relies.
TEST(WireCompatibility, ErrorDetailsHaveThePublishedNumbers) {
  const Facts published = {
      {"field google.rpc.Status 1", "code int32 single"},
      {"field google.rpc.Status 2", "message string single"},
      {"field google.rpc.Status 3", "details google.protobuf.Any repeated"},
      {"field google.rpc.ErrorInfo 1", "reason string single"},
      {"field google.rpc.ErrorInfo 2", "domain string single"},
      {"field google.rpc.ErrorInfo 3", "metadata google.rpc.ErrorInfo.MetadataEntry repeated"},
      {"field google.rpc.RetryInfo 1", "retry_delay google.protobuf.Duration single"},
      {"field google.rpc.BadRequest 1",
       "field_violations google.rpc.BadRequest.FieldViolation repeated"},
      {"field google.rpc.BadRequest.FieldViolation 1", "field string single"},
      {"field google.rpc.BadRequest.FieldViolation 2", "description string single"},
      {"field google.rpc.PreconditionFailure 1",
       "violations google.rpc.PreconditionFailure.Violation repeated"},
      {"field google.rpc.PreconditionFailure.Violation 1", "type string single"},
      {"field google.rpc.PreconditionFailure.Violation 2", "subject string single"},
      {"field google.rpc.PreconditionFailure.Violation 3", "description string single"},
      {"field google.rpc.QuotaFailure 1", "violations google.rpc.QuotaFailure.Violation repeated"},
      {"field google.rpc.QuotaFailure.Violation 1", "subject string single"},
      {"field google.rpc.QuotaFailure.Violation 2", "description string single"},
  };
  EXPECT_THAT(Breaks(published, FactsOf(Files())), IsEmpty());
}

}  // namespace
}  // namespace interlock::api
