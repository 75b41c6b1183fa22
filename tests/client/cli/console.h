// interlockctl in a test: words in, exit status and texts out, a played server behind it.
#pragma once

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/program.h"
#include "client/cpp/calls.h"
#include "lib/time/fake_clock.h"
#include "tests/client/fake_calls.h"

namespace interlock::cli {

class Console {
 public:
  FakeCalls calls;
  FakeClock clock;
  std::map<std::string, std::string> variables;
  client::ConnectionOptions connection;  // what the last run asked for
  std::string out, err;                  // what the last run printed
  bool terminal = false;

  int Run(const std::vector<std::string>& words, const std::string& input = "") {
    return RunOn(clock, words, input);
  }

  // On a clock that goes by itself, for what waits in threads and processes.
  int RunOn(const Clock& of, const std::vector<std::string>& words, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out_stream, err_stream;
    const int code =
        cli::Run(words, {.environment = [this](const std::string& name) { return variables[name]; },
                         .in = in,
                         .out = out_stream,
                         .err = err_stream,
                         .out_is_terminal = terminal,
                         .clock = of,
                         .pause = [this](absl::Duration pause) { clock.Advance(pause); },
                         .connect = [this](client::ConnectionOptions options)
                             -> absl::StatusOr<std::unique_ptr<client::Calls>> {
                           connection = std::move(options);
                           return std::make_unique<Forwarded>(calls);
                         }});
    out = out_stream.str();
    err = err_stream.str();
    return code;
  }

 private:
  class Forwarded : public client::Calls {
   public:
    explicit Forwarded(FakeCalls& to) : to_(to) {}
    absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                      google::protobuf::Message& reply, absl::Duration timeout) override {
      return to_.Call(method, request, reply, timeout);
    }
    absl::Status Watch(const std::string& method, const google::protobuf::Message& request,
                       google::protobuf::Message& reply, absl::Duration timeout,
                       const std::function<bool()>& on_reply) override {
      return to_.Watch(method, request, reply, timeout, on_reply);
    }

   private:
    FakeCalls& to_;
  };
};

}  // namespace interlock::cli
