// Signals as something to wait for.
#pragma once

#include <vector>

#include "absl/time/time.h"

namespace interlock::cli {

// From Catch() on, signals that would end the process, and SIGCHLD, are read here instead.
// Handlers and not a mask: threads that gRPC made before would still take the signal. One
// object at a time; Wait() from one thread, Wake() from any.
class SignalPipe {
 public:
  SignalPipe();
  // Puts the former handlers back.
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  // A signal that the process was started to ignore (nohup) stays ignored.
  void Catch();

  // Signals that came, in order; 0 for a Wake(). Empty where `longest` passed.
  std::vector<int> Wait(absl::Duration longest);

  void Wake();
};

}  // namespace interlock::cli
