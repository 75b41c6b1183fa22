#include "server/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace interlock::server {
namespace {

using ::testing::HasSubstr;
using Task = CommandLine::Task;

absl::StatusOr<CommandLine> Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "interlockd");
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (auto& argument : arguments) argv.push_back(argument.data());
  return ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

std::string FaultOf(const std::vector<std::string>& arguments) {
  const auto line = Parse(arguments);
  EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(line.status().message());
}

TEST(CommandLine, ServesWhatTheConfigurationSays) {
  const auto line = Parse({"--config", "interlock.textproto"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->task, Task::kServe);
  EXPECT_EQ(line->config, "interlock.textproto");
}

TEST(CommandLine, AValueMayStandBehindAnEqualsSign) {
  const auto line = Parse({"--dev", "--dir=state"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_TRUE(line->dev);
  EXPECT_EQ(line->dev_dir, "state");
}

TEST(CommandLine, TheBackupsFileIsItsValue) {
  const auto line = Parse({"--config", "c", "--backup", "copy.db"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->task, Task::kBackup);
  EXPECT_EQ(line->backup_to, "copy.db");
}

TEST(CommandLine, HelpAndVersionNeedNothingElse) {
  EXPECT_EQ(Parse({"--help"})->task, Task::kHelp);
  EXPECT_EQ(Parse({"--version"})->task, Task::kVersion);
}

TEST(CommandLine, HelpTellsOfEveryFlag) {
  for (const char* flag :
       {"--config", "--check", "--dev", "--dir", "--migrate", "--backup", "--version", "--help"}) {
    EXPECT_THAT(CommandLineHelp(), HasSubstr(flag));
  }
}

TEST(CommandLine, AFaultNamesTheFlagAndWhatWouldDo) {
  EXPECT_THAT(FaultOf({"--bogus"}), HasSubstr("unknown flag '--bogus'"));
  EXPECT_THAT(FaultOf({"--dev", "--bogus=1"}), HasSubstr("unknown flag '--bogus=1'"));
  EXPECT_THAT(FaultOf({"-x", "--dev"}), HasSubstr("unknown flag '-x'"));
  EXPECT_THAT(FaultOf({"--dev", "again"}), HasSubstr("unknown argument 'again'"));
  EXPECT_THAT(FaultOf({"--config"}), HasSubstr("--config wants a value"));
  EXPECT_THAT(FaultOf({"--config", "c", "--backup", ""}), HasSubstr("--backup wants a file"));
  EXPECT_THAT(FaultOf({}), HasSubstr("give --config FILE, or --dev"));
  EXPECT_THAT(FaultOf({"--dev", "--config", "c"}), HasSubstr("--dev goes without --config"));
  EXPECT_THAT(FaultOf({"--config", "c", "--dir", "d"}), HasSubstr("--dir goes with --dev alone"));
  EXPECT_THAT(FaultOf({"--config", "c", "--check", "--migrate"}), HasSubstr("one at a time"));
}

}  // namespace
}  // namespace interlock::server
