#include "server/command_line.h"

#include <getopt.h>

#include "absl/strings/str_cat.h"

namespace interlock::server {
namespace {

using Task = CommandLine::Task;

enum Flag : int { kConfig = 1, kCheck, kDev, kDir, kMigrate, kBackup, kVersion, kHelp };

constexpr option kFlags[] = {
    {"config", required_argument, nullptr, kConfig},
    {"check", no_argument, nullptr, kCheck},
    {"dev", no_argument, nullptr, kDev},
    {"dir", required_argument, nullptr, kDir},
    {"migrate", no_argument, nullptr, kMigrate},
    {"backup", required_argument, nullptr, kBackup},
    {"version", no_argument, nullptr, kVersion},
    {"help", no_argument, nullptr, kHelp},
    {nullptr, 0, nullptr, 0},
};

absl::Status Usage(const std::string& fault) {
  return absl::InvalidArgumentError(absl::StrCat(fault, "; interlockd --help lists the flags"));
}

// One thing at a time: --check --migrate would leave open which comes first.
absl::Status Ask(Task task, CommandLine* line) {
  if (line->task != Task::kServe && line->task != task) {
    return Usage("--check, --migrate, --backup, --version and --help go one at a time");
  }
  line->task = task;
  return absl::OkStatus();
}

absl::Status Take(int flag, const std::string& value, CommandLine* line) {
  switch (flag) {
    case kConfig:
      line->config = value;
      return absl::OkStatus();
    case kDev:
      line->dev = true;
      return absl::OkStatus();
    case kDir:
      line->dev_dir = value;
      return absl::OkStatus();
    case kBackup:
      line->backup_to = value;
      return Ask(Task::kBackup, line);
    case kCheck:
      return Ask(Task::kCheck, line);
    case kMigrate:
      return Ask(Task::kMigrate, line);
    case kVersion:
      return Ask(Task::kVersion, line);
    default:
      return Ask(Task::kHelp, line);
  }
}

absl::Status CheckTogether(const CommandLine& line, bool dir_given) {
  if (line.task == Task::kVersion || line.task == Task::kHelp) return absl::OkStatus();
  if (line.dev && !line.config.empty()) return Usage("--dev goes without --config");
  if (!line.dev && line.config.empty()) return Usage("give --config FILE, or --dev");
  if (!line.dev && dir_given) return Usage("--dir goes with --dev alone");
  if (line.task == Task::kBackup && line.backup_to.empty()) return Usage("--backup wants a file");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, char* const argv[]) {
  CommandLine line;
  bool dir_given = false;
  optind = 0;  // glibc: from the start, with no state left of a call before
  opterr = 0;
  for (;;) {
    const int at = optind == 0 ? 1 : optind;
    // '+': an argument that is no flag ends them; ':': a missing value is told apart.
    const int flag = getopt_long(argc, argv, "+:", kFlags, nullptr);
    if (flag == -1) break;
    if (flag == ':') return Usage(absl::StrCat(argv[at], " wants a value"));
    if (flag == '?') return Usage(absl::StrCat("unknown flag '", argv[at], "'"));
    dir_given = dir_given || flag == kDir;
    const auto taken = Take(flag, optarg == nullptr ? "" : optarg, &line);
    if (!taken.ok()) return taken;
  }
  if (optind < argc) return Usage(absl::StrCat("unknown argument '", argv[optind], "'"));
  const auto together = CheckTogether(line, dir_given);
  if (!together.ok()) return together;
  return line;
}

std::string CommandLineHelp() {
  return R"(interlockd: the authority that everyone who writes to Apache Druid asks for time

  interlockd --config FILE           serve as FILE says (protobuf text; config.proto documents it)
  interlockd --dev [--dir DIR]       serve on loopback with everything embedded, the simulator
                                     for Druid; state in DIR (.interlock-dev), kept between starts
  interlockd --config FILE --check         say each fault of FILE with its line; 2 if there is one
  interlockd --config FILE --migrate       bring the store's schema up, then exit
  interlockd --config FILE --backup TO     copy the SQLite store to TO while it is in use, then exit
  interlockd --version | --help

SIGTERM drains and exits 0; SIGHUP re-reads what can change without a restart.
Exit: 0 done, 1 failed, 2 the flags or the configuration are at fault.
)";
}

}  // namespace interlock::server
