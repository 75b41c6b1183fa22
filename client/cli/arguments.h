// Reads a command line by the table of verbs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/verb.h"

namespace interlock::cli {

// A variable's value; "" where it is not set.
using Environment = std::function<std::string(const std::string& variable)>;

class Arguments {
 public:
  // INVALID_ARGUMENT (USAGE) says what is wrong and the nearest that would do. Flags can
  // stand anywhere; the global ones before the verb too. With --help nothing is missing.
  static absl::StatusOr<Arguments> Parse(const std::vector<std::string>& words,
                                         const std::vector<Verb>& verbs,
                                         const Environment& environment);

  // Null with `--help`, `--version` or nothing at all.
  const Verb* verb() const { return verb_; }
  // Words that begin verbs but are none: `reservations`, with --help.
  const std::string& group() const { return group_; }
  const std::vector<std::string>& positionals() const { return positionals_; }
  const std::vector<std::string>& command() const { return command_; }

  // On the command line, not by a variable.
  bool Given(const std::string& flag) const { return flags_.count(flag) != 0; }
  // Given, or by its variable.
  bool Has(const std::string& flag) const { return Given(flag) || defaults_.count(flag) != 0; }
  // The last value; "" where there is none.
  std::string Get(const std::string& flag) const;
  std::vector<std::string> All(const std::string& flag) const;

 private:
  friend class ArgumentsParser;

  const Verb* verb_ = nullptr;
  std::string group_;
  std::map<std::string, std::vector<std::string>> flags_;
  std::map<std::string, std::string> defaults_;
  std::vector<std::string> positionals_;
  std::vector<std::string> command_;
};

// A usage error: INVALID_ARGUMENT with the reason USAGE.
absl::Status UsageError(const std::string& message);

// A positional's notation.
bool IsOptional(const Positional& positional);
bool IsRepeated(const Positional& positional);

}  // namespace interlock::cli
