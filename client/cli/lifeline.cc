#include "client/cli/lifeline.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace interlock::cli {
namespace {

// What the guard is told: a group, or that there is nothing to guard any more.
constexpr pid_t kOver = 0;

// A pid whole, or kOver where the pipe has closed.
bool ReadGroup(int pipe, pid_t& group) {
  ssize_t count = 0;
  do {
    count = read(pipe, &group, sizeof group);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof group);
}

// Between fork and its end: only what a signal handler may do.
[[noreturn]] void WaitForTheEnd(int pipe) {
  setsid();  // what is sent to the foreground of the terminal is not for it
  prctl(PR_SET_NAME, "interlock-guard");
  const int null = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) dup2(null, standard);
  dup2(pipe, 3);
  syscall(SYS_close_range, 4U, ~0U, 0U);
  for (const int ignored : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE}) {
    std::signal(ignored, SIG_IGN);
  }
  pid_t group = kOver, told = kOver;
  while (ReadGroup(3, told)) {
    group = told;
    if (group == kOver) _exit(0);
  }
  if (group != kOver) kill(-group, SIGKILL);
  _exit(0);
}

void Tell(int pipe, pid_t group) {
  [[maybe_unused]] const auto written = write(pipe, &group, sizeof group);
}

}  // namespace

Lifeline::Lifeline() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  guard_ = fork();
  if (guard_ == 0) {
    close(ends[1]);
    WaitForTheEnd(ends[0]);
  }
  close(ends[0]);
  end_ = ends[1];
}

Lifeline::~Lifeline() {
  if (end_ < 0) return;
  if (guard_ > 0) Tell(end_, kOver);
  close(end_);
  while (guard_ > 0 && waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Lifeline::GuardOwnGroup() const {
  if (guard_ > 0) Tell(end_, getpgrp());
}

}  // namespace interlock::cli
