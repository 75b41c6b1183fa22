#include "server/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace interlock::server {
namespace {

// prometheus-cpp refuses bounds that do not rise, where the first value is observed.
TEST(Metrics, BoundsRiseToTheLongestTime) {
  for (const double longest : {0.5, 3.0, 30.0, 100.0, 3600.0}) {
    const auto bounds = SecondsUpTo(longest);
    EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
    EXPECT_EQ(bounds.back(), longest);
    EXPECT_EQ(std::adjacent_find(bounds.begin(), bounds.end()), bounds.end());
  }
}

}  // namespace
}  // namespace interlock::server
