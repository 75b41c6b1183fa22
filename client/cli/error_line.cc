#include "client/cli/error_line.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/shown.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

const char* AfterNoAnswer(Repeat repeat) {
  switch (repeat) {
    case Repeat::kAsItIs:
      return "ask again, or with a longer --timeout";
    case Repeat::kSafely:
      return "it is not known whether it was done: repeat it with the same --request-id to learn, "
             "or with a longer --timeout";
    case Repeat::kBlindly:
      return "it is not known whether it was done: look what is there before you send it again; "
             "with a --request-id it could have been repeated";
  }
  return "";
}

// What gRPC says of a connection that came up and was not kept tells that somebody is there.
const char* AfterUnreachable(const std::string& message) {
  for (const char* sign : {"Ssl handshake", "certificate", "Socket closed", "HTTP/2"}) {
    if (!absl::StrContains(message, sign)) continue;
    return "something is there: is it interlockd's gRPC port, and does it want TLS (--ca, with the "
           "name that is in its certificate in --address) or a certificate of yours (--cert, "
           "--key)?";
  }
  return "is interlockd running there? --address or INTERLOCK_ADDRESS says where it is";
}

std::string MessageOf(const absl::Status& status, const std::string& reason,
                      const std::string& address, Repeat repeat) {
  std::string message(status.message());
  if (reason == "UNREACHABLE") {
    return absl::StrCat(address, " does not answer (", message, "): ", AfterUnreachable(message));
  }
  if (reason == "NO_ANSWER") {
    return absl::StrCat("no answer from ", address, " in time: ", AfterNoAnswer(repeat));
  }
  return message;
}

// What of `text` the line does not say yet, by its parts between semicolons: a message often
// has the first fault in it, without what would do.
std::string Unsaid(const std::string& line, const std::string& text) {
  std::vector<std::string> parts = absl::StrSplit(text, "; ");
  size_t said = 0;
  while (said < parts.size() && absl::StrContains(line, parts[said])) ++said;
  return absl::StrJoin(parts.begin() + static_cast<std::ptrdiff_t>(said), parts.end(), "; ");
}

// Whether the line names that very field, and not only one that begins or ends like it.
bool Names(absl::string_view line, absl::string_view field) {
  const auto within = [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("_/~-", c); };
  for (size_t at = line.find(field); at != absl::string_view::npos; at = line.find(field, at + 1)) {
    const absl::string_view after = line.substr(at + field.size());
    const bool begins = at == 0 || !within(line[at - 1]) || line[at - 1] == '/';
    if (begins && (after.empty() || !within(after.front()))) return true;
  }
  return false;
}

// Adds `part` unless it was said before.
void Say(std::string& line, const std::string& part) {
  if (!part.empty() && !absl::StrContains(line, part)) absl::StrAppend(&line, "; ", part);
}

}  // namespace

std::string ErrorLine(const absl::Status& status, const std::string& address, Repeat repeat) {
  std::string reason = ReasonOf(status);
  if (reason.empty()) reason = absl::StatusCodeToString(status.code());
  std::string line = absl::StrCat(reason, ": ", MessageOf(status, reason, address, repeat));
  for (const Fault& fault : FaultsOf(status)) {
    const std::string text =
        fault.would_do.empty() ? fault.found : absl::StrCat(fault.found, "; ", fault.would_do);
    const std::string unsaid = Unsaid(line, text);
    // Messages name a field with the first stroke or without.
    const bool named = Names(line, absl::StripPrefix(fault.pointer, "/"));
    if (unsaid.empty() && !named) {
      Say(line, absl::StrCat(fault.pointer, ": ", fault.found));  // the same, elsewhere
      continue;
    }
    // That something "is missing" was said of another field, too.
    const bool begun = fault.pointer.empty() || (named && unsaid != text);
    Say(line, begun ? unsaid : absl::StrCat(fault.pointer, ": ", text));
  }
  for (const Blocker& blocker : BlockersOf(status)) {
    if (absl::StrContains(line, blocker.description)) continue;
    Say(line, absl::StrCat(blocker.type, " ", blocker.subject, ": ", blocker.description));
  }
  if (const auto delay = RetryAfterOf(status)) {
    const absl::Duration rounded = absl::Ceil(
        absl::FromChrono(*delay), delay->count() < 1000 ? absl::Milliseconds(1) : absl::Seconds(1));
    Say(line, absl::StrCat("try again in ", interlock::FormatDuration(rounded)));
  }
  return Shown(std::move(line));
}

}  // namespace interlock::cli
