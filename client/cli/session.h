// One run of a verb: what was asked, who is called, where replies go.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cpp/calls.h"
#include "google/protobuf/message.h"
#include "lib/time/clock.h"

namespace interlock::cli {

enum class Output { kTable, kJson, kSpec };

struct Session {
  const Verb& verb;
  const Arguments& arguments;
  client::Calls& calls;
  const Clock& clock;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Output output = Output::kTable;
  absl::Duration timeout;     // of one call
  bool bounded_wait = false;  // --timeout was given: it bounds waiting too
  std::function<void(absl::Duration)> pause;
  std::string address;  // of the server, for errors
  size_t width = 0;     // of the terminal, in characters; 0 where stdout is none

  // Fills `request` from positionals and flags, by the verb's table.
  absl::Status Fill(google::protobuf::Message& request);

  // Calls a method with the session's timeout, and `longer` on top of it.
  absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, absl::Duration longer = absl::ZeroDuration());

  // On stdout, in the form that was asked for.
  void Print(const google::protobuf::Message& reply, const std::vector<Section>& view);
  void PrintLine(const std::string& text);

  // On stderr, one line: what is wrong.
  void Complain(const std::string& line);
  // On stderr, for people alone: nothing with JSON.
  void Tell(const std::string& line);

  // A file's contents, or stdin's for `-`. INVALID_ARGUMENT (FILE_NOT_READABLE).
  absl::StatusOr<std::string> Contents(const std::string& file);
};

// A verb without doings of its own: fill, call, print. Streams print a message to a line.
absl::StatusOr<int> RunPlainVerb(Session& session);

}  // namespace interlock::cli
