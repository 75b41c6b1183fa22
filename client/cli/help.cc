#include "client/cli/help.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/text_table.h"

namespace interlock::cli {
namespace {

std::string FlagWords(const Flag& flag) {
  return flag.value == nullptr ? absl::StrCat("--", flag.name)
                               : absl::StrCat("--", flag.name, " ", flag.value);
}

std::string FlagLines(const std::vector<Flag>& flags) {
  TextList list;
  for (const Flag& flag : flags) {
    std::string help = flag.help;
    if (flag.variable != nullptr) absl::StrAppend(&help, " [", flag.variable, "]");
    list.Add("  " + FlagWords(flag), help);
  }
  return list.Text();
}

std::string VerbWords(const Verb& verb) {
  std::string words = verb.words;
  for (const Positional& positional : verb.positionals) {
    absl::StrAppend(&words, " ", positional.name);
  }
  return words;
}

constexpr char kEnd[] =
    "\nAn INTERVAL is any form Druid takes; a lone day, month or hour (2026-07-16, 2026-07,\n"
    "2026-07-16T13) is all of it. Without an offset it is UTC. A TIME is 10m, 72h, 14d or P2D;\n"
    "where an instant is meant also the instant itself.\n"
    "\nExit: 0 done, and the answer is yes; 1 the answer is no; 2 bad usage or input; 3 not\n"
    "reachable or not ready; 4 not allowed; 5 anything else; 6 it can't be known yet.\n"
    "'interlockctl VERB --help' says what a verb takes.\n";

}  // namespace

std::string VerbHelp(const Verb& verb) {
  std::string text =
      absl::StrCat("interlockctl ", VerbWords(verb), verb.flags.empty() ? "" : " [FLAGS]",
                   verb.takes_command ? " [-- COMMAND...]" : "", "\n\n  ", verb.summary, "\n");
  if (!verb.flags.empty()) absl::StrAppend(&text, "\n", FlagLines(verb.flags));
  if (*verb.details != 0) absl::StrAppend(&text, "\n", verb.details, "\n");
  return absl::StrCat(text, "\nFor every verb:\n", FlagLines(GlobalFlags()));
}

std::string GroupHelp(const std::string& group) {
  std::string text =
      "interlockctl: who may write to which hours of Druid, and proof of what it did\n\n";
  TextList list;
  for (const Verb& verb : AllVerbs()) {
    if (!absl::StartsWith(verb.words, group)) continue;
    list.Add("  " + VerbWords(verb), verb.summary);
  }
  absl::StrAppend(&text, list.Text());
  if (group.empty()) absl::StrAppend(&text, "\nFor every verb:\n", FlagLines(GlobalFlags()), kEnd);
  return text;
}

}  // namespace interlock::cli
