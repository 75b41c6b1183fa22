#include "lib/drop/options.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "lib/drop/probe.h"

namespace interlock::drop {
namespace {

TEST(FitsPattern, TakesAnyCharactersForAStar) {
  EXPECT_TRUE(FitsPattern("clicks", "clicks"));
  EXPECT_FALSE(FitsPattern("clicks", "clicks2"));
  EXPECT_FALSE(FitsPattern("clicks", "click"));
  EXPECT_TRUE(FitsPattern("*", ""));
  EXPECT_TRUE(FitsPattern("*", "anything"));
  EXPECT_TRUE(FitsPattern("eu_*", "eu_"));
  EXPECT_TRUE(FitsPattern("*_raw", "eu_raw_raw"));
  EXPECT_TRUE(FitsPattern("a*b*c", "a1b2b3c"));
  EXPECT_FALSE(FitsPattern("a*b*c", "a1b2c3"));
  EXPECT_FALSE(FitsPattern("", "a"));
}

TEST(Floor, IsTheFirstThatFitsElseTheGeneralOne) {
  Options options;
  options.floor = absl::Hours(1);
  options.datasource_floors = {{"eu_*", absl::Hours(2)}, {"*", absl::Hours(3)}};
  EXPECT_EQ(options.FloorOf("eu_clicks"), absl::Hours(2));
  EXPECT_EQ(options.FloorOf("us_clicks"), absl::Hours(3));
  options.datasource_floors.pop_back();
  EXPECT_EQ(options.FloorOf("us_clicks"), absl::Hours(1));
}

TEST(LocalProbe, SpeaksOnlyOfFilesInItsFolders) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const LocalProbe probe({folder});
  const auto local = [](const std::string& path) {
    return R"({"path":")" + path + R"(","type":"local"})";
  };
  EXPECT_EQ(probe.Exists(local(folder + "/../" + folder + "/.")), true);
  EXPECT_EQ(probe.Exists(local(folder + "/no-such-file-of-interlock")), false);
  EXPECT_EQ(probe.Exists(local("/no-such-folder/of-interlock")), std::nullopt);
  EXPECT_EQ(probe.Exists(local(folder + "/../etc/passwd")), std::nullopt);
  EXPECT_EQ(probe.Exists(R"({"type":"s3_zip","bucket":"b","key":"k"})"), std::nullopt);
  EXPECT_EQ(probe.Exists(R"({"path":null,"type":"tombstone"})"), std::nullopt);
  EXPECT_EQ(probe.Exists("{"), std::nullopt);
}

}  // namespace
}  // namespace interlock::drop
