#include "client/cli/command_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace interlock::cli {
namespace {

bool IsForeground() { return isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) == getpgrp(); }

// Ours, with `variables` in place of those of the same names.
std::vector<std::string> Environment(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name = std::string(*entry).substr(0, std::string(*entry).find('=') + 1);
    bool replaced = false;
    for (const auto& variable : variables) replaced = replaced || absl::StartsWith(variable, name);
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec: only what a signal handler may do.
[[noreturn]] void Become(char* const* command, char* const* environment, pid_t parent,
                         bool take_terminal, int error_pipe, const Lifeline& lifeline) {
  setpgid(0, 0);
  lifeline.GuardOwnGroup();
  if (take_terminal) {
    std::signal(SIGTTOU, SIG_IGN);  // or giving the terminal to ourselves would stop us
    tcsetpgrp(STDIN_FILENO, getpid());
    std::signal(SIGTTOU, SIG_DFL);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before it could be asked for the signal
  execvpe(command[0], command, environment);
  const int error = errno;
  [[maybe_unused]] const auto written = write(error_pipe, &error, sizeof error);
  _exit(127);
}

}  // namespace

CommandProcess::CommandProcess(std::unique_ptr<Lifeline> lifeline, pid_t pid, bool has_terminal)
    : lifeline_(std::move(lifeline)), pid_(pid), has_terminal_(has_terminal) {}

CommandProcess::~CommandProcess() { TakeTerminalBack(); }

absl::StatusOr<std::unique_ptr<CommandProcess>> CommandProcess::Start(
    const std::vector<std::string>& command, const std::vector<std::string>& variables) {
  const std::vector<std::string> environment = Environment(variables);
  const std::vector<char*> words = Pointers(command);
  const std::vector<char*> entries = Pointers(environment);
  const bool terminal = IsForeground();
  const pid_t parent = getpid();
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return absl::NotFoundError("no pipe to be had");
  auto lifeline = std::make_unique<Lifeline>();
  const pid_t pid = fork();
  if (pid == 0) Become(words.data(), entries.data(), parent, terminal, pipe_ends[1], *lifeline);
  close(pipe_ends[1]);
  if (pid > 0) setpgid(pid, pid);  // whoever of the two comes first
  int error = pid < 0 ? errno : 0;
  // The pipe closes with exec; what comes through before is why there was none.
  while (pid > 0 && read(pipe_ends[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  close(pipe_ends[0]);
  if (error == 0) {
    return std::unique_ptr<CommandProcess>(new CommandProcess(std::move(lifeline), pid, terminal));
  }
  if (pid > 0) waitpid(pid, nullptr, 0);
  return absl::NotFoundError(absl::StrCat("cannot run '", command[0], "': ", std::strerror(error)));
}

void CommandProcess::Look() {
  if (exit_status_.has_value()) return;
  int status = 0;
  stopped_ = false;
  if (waitpid(pid_, &status, WNOHANG | (has_terminal_ ? WUNTRACED : 0)) != pid_) return;
  if (WIFSTOPPED(status)) {
    stopped_ = true;
  } else if (WIFEXITED(status)) {
    exit_status_ = WEXITSTATUS(status);
  } else if (WIFSIGNALED(status)) {
    exit_status_ = 128 + WTERMSIG(status);
  }
}

void CommandProcess::Signal(int signal) { kill(-pid_, signal); }

bool CommandProcess::GroupLives() const { return kill(-pid_, 0) == 0; }

void CommandProcess::GiveTerminal(pid_t group) const {
  if (!has_terminal_) return;
  const auto former = std::signal(SIGTTOU, SIG_IGN);
  tcsetpgrp(STDIN_FILENO, group);
  std::signal(SIGTTOU, former);
}

void CommandProcess::TakeTerminalBack() { GiveTerminal(getpgrp()); }

void CommandProcess::Continue() {
  GiveTerminal(pid_);
  Signal(SIGCONT);
}

}  // namespace interlock::cli
