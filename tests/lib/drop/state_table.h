// What the tables of the state function's tests are made of.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "lib/drop/state.h"

namespace interlock::drop {

// An observation in which everything is as a drop wants it: three ids, none marked yet.
inline Observation Fine() {
  Observation seen;
  seen.leased = true;
  seen.known = true;
  seen.settled = true;
  seen.kill_bounded = true;
  seen.used = 3;
  seen.window = Window::kRuns;
  return seen;
}

inline Observation AllMarked() {
  Observation seen = Fine();
  seen.used = 0;
  seen.marked = 3;
  return seen;
}

inline Observation WindowOver() {
  Observation seen = AllMarked();
  seen.window = Window::kOver;
  return seen;
}

struct Case {
  const char* what;
  State state;
  Observation seen;
  std::function<void(Observation&)> but;
  Move expected;
};

inline void Expect(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    Observation seen = one.seen;
    if (one.but) one.but(seen);
    EXPECT_EQ(Next(one.state, seen), one.expected) << one.what;
  }
}

}  // namespace interlock::drop
