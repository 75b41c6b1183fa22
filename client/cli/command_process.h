// A command in a process group of its own.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/lifeline.h"

namespace interlock::cli {

// A group of its own so that a signal reaches all that the command has started. On a
// terminal the group has it, as a shell's foreground job does. If this process dies, so
// does the group: nobody would renew its lease. To be used from the thread that started
// it.
class CommandProcess {
 public:
  // `variables`, as NAME=VALUE, come on top of this process's own. NOT_FOUND where the
  // command can't be run; says why.
  static absl::StatusOr<std::unique_ptr<CommandProcess>> Start(
      const std::vector<std::string>& command, const std::vector<std::string>& variables);
  ~CommandProcess();

  // Looks what became of it, without waiting.
  void Look();
  // As a shell has it: its status, or 128 + N where signal N ended it; none while it runs.
  const std::optional<int>& exit_status() const { return exit_status_; }
  // True if the last look found that it was stopped, by Ctrl-Z.
  bool stopped() const { return stopped_; }

  // To the whole group.
  void Signal(int signal);
  // True while anything of the group is left.
  bool GroupLives() const;

  void TakeTerminalBack();
  // Gives the terminal to it and lets it go on.
  void Continue();

 private:
  CommandProcess(std::unique_ptr<Lifeline> lifeline, pid_t pid, bool has_terminal);
  void GiveTerminal(pid_t group) const;

  const std::unique_ptr<Lifeline> lifeline_;
  const pid_t pid_;
  const bool has_terminal_;
  std::optional<int> exit_status_;
  bool stopped_ = false;
};

}  // namespace interlock::cli
