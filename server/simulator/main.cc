// interlock-simulator: a small Druid in memory on a loopback port, for trying Interlock
// out and for tests. Prints one line with its address when it serves; ends with 0 on
// SIGTERM or SIGINT.
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lib/simulator/simulator.h"

namespace {

using interlock::simulator::Moment;
using interlock::simulator::Simulator;
using interlock::simulator::SimulatorOptions;

constexpr char kUsage[] =
    "usage: interlock-simulator [--port N] [--version 33.0.0|28.0.0] [--deep-storage DIR]\n"
    "         [--state FILE] [--task-seconds S] [--slots N] [--load-seconds S] [--poll-seconds S]\n"
    "         [--mark-overshadowed-seconds S]\n"
    "--state keeps what it knows in a file, and wants --deep-storage for the rows.\n"
    "Port 0, the default, takes a free one. /simulator/... on the same port switches\n"
    "faults on and shows what was asked (lib/simulator/control.h).\n";
constexpr int kUsageExit = 2;
constexpr int kFailureExit = 5;

bool ReadSeconds(const std::string& text, Moment& moment) {
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds) || seconds < 0) return false;
  moment = Moment(static_cast<int64_t>(seconds * 1000));
  return true;
}

// False for an option that there is not, or a value that is none.
bool ReadOption(const std::string& name, const std::string& value, SimulatorOptions& options) {
  if (name == "port") return absl::SimpleAtoi(value, &options.port);
  if (name == "slots") return absl::SimpleAtoi(value, &options.world.worker_slots);
  if (name == "task-seconds") return ReadSeconds(value, options.world.task_duration);
  if (name == "load-seconds") return ReadSeconds(value, options.world.load_delay);
  if (name == "poll-seconds") return ReadSeconds(value, options.world.poll_period);
  if (name == "mark-overshadowed-seconds") {
    Moment after{0};
    if (!ReadSeconds(value, after)) return false;
    options.world.mark_overshadowed_after = after;
    return true;
  }
  if (name == "version") {
    options.version = value;
    return true;
  }
  if (name == "state") {
    options.state_file = value;
    return true;
  }
  if (name == "deep-storage") {
    options.world.deep_storage = value;
    return true;
  }
  return false;
}

bool ReadOptions(int argc, char** argv, SimulatorOptions& options) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (!absl::ConsumePrefix(&argument, "--")) return false;
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const bool joined = argument.find('=') != absl::string_view::npos;
    if (!joined && ++i == argc) return false;
    if (!ReadOption(pair.first, joined ? pair.second : argv[i], options)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const interlock::SystemClock clock;
  SimulatorOptions options;
  options.clock = &clock;
  if (argc == 2 && std::string(argv[1]) == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (!ReadOptions(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return kUsageExit;
  }
  // Blocked before any thread starts, so that all of them leave the signals to sigwait.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  absl::StatusOr<std::unique_ptr<Simulator>> simulator = Simulator::Start(std::move(options));
  if (!simulator.ok()) {
    std::fprintf(stderr, "interlock-simulator: %s\n",
                 std::string(simulator.status().message()).c_str());
    return kFailureExit;
  }
  std::printf("%s\n", (*simulator)->address().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  return 0;
}
