// The table of verbs against the API, and against the names that scripts rely on.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/api.h"
#include "client/cli/arguments.h"
#include "client/cli/verb.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace interlock::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// True if `path` leads to a field of `type`, through messages and lists of them.
bool Leads(const Descriptor& type, const std::string& path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* field = type.FindFieldByName(path.substr(0, dot));
  if (field == nullptr) return false;
  if (dot == std::string::npos) return true;
  return field->message_type() != nullptr && Leads(*field->message_type(), path.substr(dot + 1));
}

const Descriptor* TypeAt(const Descriptor& type, const std::string& path) {
  if (path.empty()) return &type;
  const size_t dot = path.find('.');
  const FieldDescriptor* field = type.FindFieldByName(path.substr(0, dot));
  if (field == nullptr || field->message_type() == nullptr) return nullptr;
  return TypeAt(*field->message_type(), dot == std::string::npos ? "" : path.substr(dot + 1));
}

TEST(Verbs, EachNamesAMethodOfTheApiAndFieldsOfItsRequest) {
  for (const Verb& verb : AllVerbs()) {
    if (*verb.method == 0) continue;
    const auto* method = FindMethod(verb.method);
    ASSERT_NE(method, nullptr) << verb.words << ": " << verb.method;
    for (const Positional& positional : verb.positionals) {
      if (positional.field == nullptr) continue;
      EXPECT_TRUE(Leads(*method->input_type(), positional.field))
          << verb.words << ": " << positional.field;
    }
    for (const Flag& flag : verb.flags) {
      if (flag.field == nullptr) continue;
      EXPECT_TRUE(Leads(*method->input_type(), flag.field)) << verb.words << ": " << flag.field;
    }
  }
}

TEST(Verbs, EachColumnIsAFieldOfTheReply) {
  for (const Verb& verb : AllVerbs()) {
    if (*verb.method == 0) continue;
    const auto* method = FindMethod(verb.method);
    for (const Section& section : verb.view) {
      const Descriptor* rows = TypeAt(*method->output_type(), section.list);
      ASSERT_NE(rows, nullptr) << verb.words << ": " << section.list;
      for (const Column& column : section.columns) {
        EXPECT_TRUE(Leads(*rows, column.path)) << verb.words << ": " << column.path;
      }
    }
  }
}

TEST(Verbs, ASwitchFillsABoolAndAnythingElseTakesAValue) {
  for (const Verb& verb : AllVerbs()) {
    const auto* method = FindMethod(verb.method);
    for (const Flag& flag : verb.flags) {
      if (flag.field == nullptr || absl::StrContains(flag.field, ".")) continue;
      const auto* field = method->input_type()->FindFieldByName(flag.field);
      EXPECT_EQ(flag.value == nullptr, field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL)
          << verb.words << " --" << flag.name;
      EXPECT_EQ(flag.many, field->is_repeated()) << verb.words << " --" << flag.name;
    }
  }
}

TEST(Verbs, NoneHidesAnother) {
  for (const Verb& verb : AllVerbs()) {
    for (const Verb& other : AllVerbs()) {
      if (&verb == &other) continue;
      EXPECT_FALSE(absl::StartsWith(absl::StrCat(other.words, " "), absl::StrCat(verb.words, " ")))
          << verb.words << " hides " << other.words;
    }
    std::set<std::string> names;
    for (const auto* flags : {&verb.flags, &GlobalFlags()}) {
      for (const Flag& flag : *flags) {
        EXPECT_TRUE(names.insert(flag.name).second) << verb.words << " --" << flag.name;
      }
    }
  }
}

TEST(Verbs, EveryMethodOfTheApiHasOne) {
  // Called by `audit --verify`, beside the list.
  std::set<std::string> called = {"Audit.VerifyAudit"};
  for (const Verb& verb : AllVerbs()) called.insert(verb.method);
  for (const char* file : {"audit", "backfills", "drops", "findings", "ingestion_coordinator",
                           "jobs", "reservations", "seals", "server", "streams"}) {
    const auto* proto = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(
        absl::StrCat("interlock/v1/", file, ".proto"));
    ASSERT_NE(proto, nullptr) << file;
    for (int s = 0; s < proto->service_count(); ++s) {
      for (int m = 0; m < proto->service(s)->method_count(); ++m) {
        const std::string name =
            absl::StrCat(proto->service(s)->name(), ".", proto->service(s)->method(m)->name());
        EXPECT_TRUE(called.count(name) != 0) << name;
      }
    }
  }
}

TEST(Verbs, WhatScriptsRelyOnParses) {
  const std::vector<std::string> lines = {
      "reserve ds 2026-07-16 2026-07-18 --mode replace --ttl 10m --purpose p --holder h "
      "--skip-held --wait 5m --request-id r -- sh -c true",
      "reserve ds 2026-07-16 --kill-after 10s -- true",
      "submit --spec f --interval 2026 --dry-run --reprocess all --max-parallel 2 --newest-first",
      "submit --sql f --context g --expect-rows 1 --min-rows 1 --max-unparseable 0",
      "submit --job j --expect-generation g --plan-revision r --skip-held --accept-widening",
      "submit --job j --wait-tail --correction --wait --request-id r --reservation i "
      "--fencing-token 7",
      "submit --job j --handover --max-pause 10m",
      "submit --job j --accept-unbounded-tail",
      "submit --spec f --dry-run -o spec",
      "verify ds 2026-07-16 --level served --expect-rows 3 --count-metric events --wait 10m",
      "drop ds 2026-07-16 --reason r --dry-run --window 72h --floor 14d --approval --wait",
      "seal ds 2026-07 --reason r --snapshot f",
      "explain ds 2026-07",
      "check-append ds 2026-07-16T13:00:00Z 2026-07-16T14:00:00Z",
      "reservations list",
      "reservations list ds --interval 2026",
      "reservations get i",
      "reservations renew i --fencing-token 7 --ttl 5m",
      "reservations release i --fencing-token 7",
      "reservations force-release i --reason r",
      "reservations watch",
      "reservations watch ds",
      "backfills list",
      "backfills list ds",
      "backfills get i",
      "backfills watch i",
      "backfills pause i",
      "backfills resume i",
      "backfills retry i",
      "backfills cancel i",
      "backfills rollback i",
      "backfills accept i 2026-07-16 --reason r",
      "backfills abandon i t --reason r",
      "backfills watch i --until-over",
      "jobs put f",
      "jobs get j",
      "jobs list",
      "drops list",
      "drops list ds",
      "drops get i",
      "drops approve i",
      "drops restore i",
      "drops restore i --no-wait",
      "drops cancel i",
      "drops extend i 24h",
      "retention put f",
      "retention list",
      "retention delete p",
      "seals list",
      "seals list ds",
      "seals get i",
      "seals unseal i --reason r --for 1h",
      "seals corrections",
      "seals corrections ds",
      "seals policy put f",
      "seals policy list",
      "seals policy delete p",
      "streams register ds --stream s --tail P2D",
      "streams register ds --supervisor s",
      "streams list",
      "streams remove ds",
      "findings",
      "findings ds",
      "audit --datasource ds --since 2h --verify",
      "policy test alice SubmitBackfill ds",
      "status",
      "doctor",
      "completion bash",
      "-o json --caller c status --address h:1 --token t --ca a --cert b --key k --timeout 1s"};
  for (const std::string& line : lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const auto arguments =
        Arguments::Parse(words, AllVerbs(), [](const std::string&) { return ""; });
    EXPECT_TRUE(arguments.ok()) << line << ": " << arguments.status();
  }
}

}  // namespace
}  // namespace interlock::cli
