// interlockctl as a function: everything that main() gives it can be given by a test.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cpp/connection.h"
#include "lib/time/clock.h"

namespace interlock::cli {

struct Surroundings {
  Environment environment;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  size_t width = 0;  // of that terminal, in characters; 0 where it is not known
  const Clock& clock;
  std::function<void(absl::Duration)> pause;
  // How a server is reached; called once, with the first verb that needs one.
  std::function<absl::StatusOr<std::unique_ptr<client::Calls>>(client::ConnectionOptions)> connect;
};

// Does what the words after `interlockctl` ask for, and gives the exit status.
int Run(const std::vector<std::string>& words, Surroundings surroundings);

}  // namespace interlock::cli
