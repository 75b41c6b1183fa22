#include "client/cli/arguments.h"

#include <string>
#include <vector>

#include "client/cli/nearest.h"
#include "gtest/gtest.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

absl::StatusOr<Arguments> Parse(const std::vector<std::string>& words,
                                const std::string& variables = "") {
  return Arguments::Parse(words, AllVerbs(), [variables](const std::string&) { return variables; });
}

std::string Fault(const std::vector<std::string>& words) {
  const auto parsed = Parse(words);
  if (parsed.ok()) return "";
  EXPECT_EQ(ReasonOf(parsed.status()), "USAGE");
  return std::string(parsed.status().message());
}

TEST(Arguments, ReadsWordsFlagsAndTheCommand) {
  const auto read = Parse({"-o", "json", "reserve", "ds", "2026-07-16", "--ttl=10m", "2026-07-17",
                           "--skip-held", "--", "run", "--ttl", "x"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->verb()->words, std::string("reserve"));
  EXPECT_EQ(read->positionals(), (std::vector<std::string>{"ds", "2026-07-16", "2026-07-17"}));
  EXPECT_EQ(read->Get("ttl"), "10m");
  EXPECT_EQ(read->Get("output"), "json");
  EXPECT_TRUE(read->Given("skip-held"));
  EXPECT_EQ(read->command(), (std::vector<std::string>{"run", "--ttl", "x"}));
}

TEST(Arguments, AFlagMayHaveAValueThatLooksLikeAnythingButAFlag) {
  EXPECT_EQ(Parse({"reserve", "d", "i", "--purpose", "-x"})->Get("purpose"), "-x");
  EXPECT_EQ(Parse({"reserve", "d", "i", "--purpose=--x"})->Get("purpose"), "--x");
  EXPECT_EQ(Parse({"submit", "--spec", "-"})->Get("spec"), "-");
  EXPECT_EQ(Fault({"reserve", "d", "i", "--purpose", "--wait"}),
            "--purpose wants a value: --purpose TEXT");
}

TEST(Arguments, AnUnknownFlagIsToldTheNearest) {
  EXPECT_EQ(Fault({"submit", "--spek", "x"}), "--spek is no flag of 'submit'; do you mean --spec?");
  EXPECT_EQ(Fault({"verify", "d", "i", "--exepct-rows", "3"}),
            "--exepct-rows is no flag of 'verify'; do you mean --expect-rows?");
  EXPECT_EQ(Fault({"status", "--quux"}), "--quux is no flag of 'status'; --help lists them");
  EXPECT_EQ(Fault({"--spec", "x", "submit"}),
            "--spec is no flag, before a verb; --help lists them");
}

TEST(Arguments, AnUnknownVerbIsToldTheNearest) {
  EXPECT_EQ(Fault({"reserv"}), "'reserv' is no verb; do you mean 'reserve'?");
  EXPECT_EQ(Fault({"drops", "restor", "x"}),
            "'restor' is no verb of 'drops'; do you mean 'restore'?");
  EXPECT_EQ(Fault({"jobs", "frobnicate"}),
            "'frobnicate' is no verb of 'jobs'; there are put, get, list");
  EXPECT_EQ(Fault({"jobs"}), "'jobs' wants one of put, get, list");
  EXPECT_EQ(Fault({}), "no verb; --help lists them");
}

TEST(Arguments, WhatIsMissingOrTooMuchIsSaid) {
  EXPECT_EQ(Fault({"reserve", "ds"}), "'reserve' wants INTERVAL...");
  EXPECT_EQ(Fault({"drops", "get"}), "'drops get' wants ID");
  EXPECT_EQ(Fault({"drops", "get", "a", "b"}), "'b' is one word too many for 'drops get'");
  EXPECT_EQ(Fault({"drops", "list", "a", "b"}), "'b' is one word too many for 'drops list'");
  EXPECT_EQ(Fault({"reserve", "d", "i", "--ttl", "1m", "--ttl", "2m"}), "--ttl is given twice");
  EXPECT_EQ(Fault({"reserve", "d", "i", "--skip-held=yes"}), "--skip-held takes no value");
  EXPECT_EQ(Fault({"reserve", "d", "i", "--"}), "no command after '--'");
  EXPECT_EQ(Fault({"status", "--", "x"}), "'--' and a command after it go with 'reserve' alone");
}

TEST(Arguments, SomeFlagsMayRepeat) {
  const auto read = Parse({"submit", "--interval", "a", "--spec", "f", "--interval", "b"});
  EXPECT_EQ(read->All("interval"), (std::vector<std::string>{"a", "b"}));
}

TEST(Arguments, OfAGlobalFlagTheLastCounts) {
  EXPECT_EQ(Parse({"-o", "json", "status", "-o", "table"})->All("output"),
            std::vector<std::string>{"table"});
}

TEST(Arguments, WithHelpNothingIsMissing) {
  EXPECT_EQ(Parse({"reserve", "--help"})->verb()->words, std::string("reserve"));
  EXPECT_EQ(Parse({"drops", "-h"})->group(), "drops");
  EXPECT_TRUE(Parse({"--help"}).ok());
  EXPECT_TRUE(Parse({"--version"}).ok());
}

TEST(Arguments, AVariableIsADefaultAndNoMoreThanThat) {
  const auto by_variable = Parse({"status"}, "from-variable");
  EXPECT_EQ(by_variable->Get("address"), "from-variable");
  EXPECT_TRUE(by_variable->Has("address"));
  EXPECT_FALSE(by_variable->Given("address"));
  EXPECT_EQ(Parse({"status", "--address", "x"}, "from-variable")->Get("address"), "x");
  EXPECT_EQ(Parse({"status"}, "x")->Get("timeout"), "");
}

TEST(Nearest, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> known = {"restore", "release", "renew"};
  EXPECT_EQ(Nearest("restroe", known), "restore");  // two letters swapped
  EXPECT_EQ(Nearest("rel", known), "release");      // a beginning
  EXPECT_EQ(Nearest("renw", known), "renew");
  EXPECT_EQ(Nearest("quux", known), "");
  EXPECT_EQ(Nearest("", known), "");
}

TEST(Arguments, WhatAVerbCanNotDoWithoutIsAskedFor) {
  EXPECT_EQ(Fault({"reservations", "renew", "r1-2"}),
            "'reservations renew' wants --fencing-token N");
  EXPECT_EQ(Fault({"reservations", "release", "r1-2"}),
            "'reservations release' wants --fencing-token N");
  EXPECT_TRUE(Parse({"reservations", "renew", "r1-2", "--fencing-token", "2"}).ok());
  EXPECT_TRUE(Parse({"reservations", "renew", "--help"}).ok());
}

TEST(Arguments, AnInstantBeforeTheYear0IsNoFlag) {
  const std::string eternity = "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z";
  const auto read = Parse({"reserve", "ds", eternity});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->positionals().back(), eternity);
}

}  // namespace
}  // namespace interlock::cli
