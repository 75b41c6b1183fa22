// interlockctl: Interlock's API on the command line.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "client/cli/program.h"
#include "client/cpp/connection.h"
#include "lib/time/clock.h"

namespace {

// 0 where there is none.
size_t TerminalWidth() {
  struct winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace interlock;  // NOLINT(google-build-using-namespace): main() is not in one
  // What it says comes back with the call, in our one line; its own log is for who asks for it.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  const SystemClock clock;
  return cli::Run(
      std::vector<std::string>(argv + 1, argv + argc),
      {.environment =
           [](const std::string& name) {
             const char* value = std::getenv(name.c_str());
             return std::string(value == nullptr ? "" : value);
           },
       .in = std::cin,
       .out = std::cout,
       .err = std::cerr,
       .out_is_terminal = isatty(STDOUT_FILENO) != 0,
       .width = TerminalWidth(),
       .clock = clock,
       .pause =
           [](absl::Duration pause) {
             std::this_thread::sleep_for(absl::ToChronoNanoseconds(pause));
           },
       .connect =
           [](client::ConnectionOptions options) -> absl::StatusOr<std::unique_ptr<client::Calls>> {
         return client::Connection::Open(std::move(options));
       }});
}
