#include "client/cli/program.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/completion.h"
#include "client/cli/error_line.h"
#include "client/cli/exit_code.h"
#include "client/cli/help.h"
#include "client/cli/session.h"
#include "lib/time/duration.h"

namespace interlock::cli {
namespace {

constexpr absl::Duration kDefaultTimeout = absl::Minutes(1);

client::ConnectionOptions ConnectionOf(const Arguments& arguments, const Environment& environment) {
  client::ConnectionOptions options;
  if (arguments.Has("address")) options.address = arguments.Get("address");
  options.token = arguments.Get("token");
  options.caller = arguments.Has("caller") ? arguments.Get("caller") : environment("USER");
  options.authority_file = arguments.Get("ca");
  options.certificate_file = arguments.Get("cert");
  options.key_file = arguments.Get("key");
  return options;
}

absl::StatusOr<Output> OutputOf(const Arguments& arguments, bool out_is_terminal) {
  const std::string form = arguments.Get("output");
  if (form.empty()) return out_is_terminal ? Output::kTable : Output::kJson;
  if (form == "table") return Output::kTable;
  if (form == "json") return Output::kJson;
  if (form == "spec" && arguments.verb()->words == std::string("submit")) return Output::kSpec;
  return UsageError(absl::StrCat("-o ", form, ": it is table or json",
                                 form == "spec" ? "; spec goes with 'submit --dry-run'" : ""));
}

absl::StatusOr<absl::Duration> TimeoutOf(const Arguments& arguments) {
  if (!arguments.Given("timeout")) return kDefaultTimeout;
  const auto timeout = ParseDuration(arguments.Get("timeout"));
  if (timeout.ok() && *timeout > absl::ZeroDuration()) return *timeout;
  return UsageError("--timeout wants a time, as 30s");
}

absl::StatusOr<int> Do(const Arguments& arguments, Surroundings& around) {
  const auto output = OutputOf(arguments, around.out_is_terminal);
  if (!output.ok()) return output.status();
  const auto timeout = TimeoutOf(arguments);
  if (!timeout.ok()) return timeout.status();
  const auto connection = ConnectionOf(arguments, around.environment);
  auto calls = around.connect(connection);
  if (!calls.ok()) return calls.status();
  const Verb& verb = *arguments.verb();
  Session session{verb,
                  arguments,
                  **calls,
                  around.clock,
                  around.in,
                  around.out,
                  around.err,
                  *output,
                  *timeout,
                  arguments.Given("timeout"),
                  around.pause,
                  connection.address,
                  around.out_is_terminal ? around.width : 0};
  return verb.run == nullptr ? RunPlainVerb(session) : verb.run(session);
}

// Whether a call that was not answered can be sent again.
Repeat RepeatOf(const Arguments& arguments) {
  const Verb* verb = arguments.verb();
  const bool reads = verb == nullptr || arguments.Given("dry-run") ||
                     std::none_of(verb->flags.begin(), verb->flags.end(), [](const Flag& flag) {
                       return flag.name == std::string("request-id");
                     });
  if (reads) return Repeat::kAsItIs;
  return arguments.Given("request-id") ? Repeat::kSafely : Repeat::kBlindly;
}

// `reserve … -- COMMAND` has statuses of its own, for usage too.
bool HasCommand(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--") != words.end() &&
         std::find(words.begin(), words.end(), "reserve") != words.end();
}

}  // namespace

int Run(const std::vector<std::string>& words, Surroundings around) {
  if (!words.empty() && words.front() == "__complete") {
    for (const auto& word : Candidates({words.begin() + 1, words.end()})) {
      around.out << word << '\n';
    }
    return kDone;
  }
  const auto arguments = Arguments::Parse(words, AllVerbs(), around.environment);
  std::string address = client::ConnectionOptions().address;
  const auto fail = [&](const absl::Status& status) -> int {
    const Repeat repeat = arguments.ok() ? RepeatOf(*arguments) : Repeat::kAsItIs;
    around.err << "interlockctl: " << ErrorLine(status, address, repeat) << '\n' << std::flush;
    return HasCommand(words) ? static_cast<int>(CommandExitCodeOf(status))
                             : static_cast<int>(ExitCodeOf(status));
  };
  if (!arguments.ok()) return fail(arguments.status());
  if (arguments->Given("version")) {
    around.out << "interlockctl " << INTERLOCK_VERSION << '\n';
    return kDone;
  }
  if (arguments->Given("help")) {
    around.out << (arguments->verb() != nullptr ? VerbHelp(*arguments->verb())
                                                : GroupHelp(arguments->group()));
    return kDone;
  }
  if (arguments->Has("address")) address = arguments->Get("address");
  const auto code = Do(*arguments, around);
  return code.ok() ? *code : fail(code.status());
}

}  // namespace interlock::cli
