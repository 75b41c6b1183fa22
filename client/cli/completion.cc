#include "client/cli/completion.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/api.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "google/protobuf/descriptor.h"

namespace interlock::cli {
namespace {

// The shells ask interlockctl itself, so that what they offer is what it takes.
constexpr char kBash[] =
    "_interlockctl() {\n"
    "  local words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\")\n"
    "  COMPREPLY=($(compgen -W \"$(interlockctl __complete \"${words[@]}\" 2>/dev/null)\" \\\n"
    "    -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
    "}\n"
    "complete -o default -F _interlockctl interlockctl\n";
constexpr char kZsh[] =
    "#compdef interlockctl\n"
    "_interlockctl() {\n"
    "  local -a found\n"
    "  found=(${(f)\"$(interlockctl __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "  if (( $#found )); then compadd -a found; else _files; fi\n"
    "}\n"
    "compdef _interlockctl interlockctl\n";
constexpr char kFish[] =
    "complete -c interlockctl -a '(interlockctl __complete (commandline -opc)[2..] "
    "(commandline -ct) 2>/dev/null)'\n";

// The verb that `words` begin with, the longest; null for none.
const Verb* VerbIn(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) absl::StrAppend(&line, word, " ");
  const Verb* found = nullptr;
  for (const Verb& verb : AllVerbs()) {
    if (absl::StartsWith(line, absl::StrCat(verb.words, " "))) found = &verb;
  }
  return found;
}

const Flag* FlagNamed(const Verb* verb, const std::string& word) {
  for (const auto* flags : {verb == nullptr ? nullptr : &verb->flags, &GlobalFlags()}) {
    if (flags == nullptr) continue;
    for (const Flag& flag : *flags) {
      if (word == absl::StrCat("--", flag.name)) return &flag;
    }
  }
  return nullptr;
}

std::vector<std::string> ValuesOf(const Verb* verb, const Flag& flag) {
  if (flag.name == std::string("output")) return {"table", "json"};
  if (verb == nullptr || flag.field == nullptr) return {};
  const auto* method = FindMethod(verb->method);
  const auto* field =
      method == nullptr ? nullptr : method->input_type()->FindFieldByName(flag.field);
  if (field == nullptr || field->enum_type() == nullptr) return {};
  std::vector<std::string> values;
  for (int i = 1; i < field->enum_type()->value_count(); ++i) {
    values.push_back(absl::AsciiStrToLower(field->enum_type()->value(i)->name()));
  }
  return values;
}

void AddFlags(const std::vector<Flag>& flags, std::vector<std::string>& found) {
  for (const Flag& flag : flags) found.push_back(absl::StrCat("--", flag.name));
}

// The next word of each verb that begins with the words so far, which are no flags.
void AddVerbWords(const std::vector<std::string>& before, std::vector<std::string>& found) {
  std::string prefix;
  for (const auto& word : before) absl::StrAppend(&prefix, word, " ");
  for (const Verb& verb : AllVerbs()) {
    if (!absl::StartsWith(verb.words, prefix)) continue;
    const std::string rest = std::string(verb.words).substr(prefix.size());
    const std::string next = rest.substr(0, rest.find(' '));
    if (std::find(found.begin(), found.end(), next) == found.end()) found.push_back(next);
  }
}

}  // namespace

std::vector<std::string> Candidates(const std::vector<std::string>& words) {
  if (words.empty()) return Candidates({""});
  std::vector<std::string> before(words.begin(), words.end() - 1);
  const std::string& typed = words.back();
  // Global flags may stand before the verb.
  std::vector<std::string> plain;
  for (size_t i = 0; i < before.size(); ++i) {
    if (!absl::StartsWith(before[i], "-")) {
      plain.push_back(before[i]);
    } else if (const Flag* flag = FlagNamed(nullptr, before[i]);
               (flag != nullptr && flag->value != nullptr) || before[i] == "-o") {
      ++i;
    }
  }
  const Verb* verb = VerbIn(plain);
  std::vector<std::string> found;
  if (!before.empty()) {
    const std::string last = before.back() == "-o" ? "--output" : before.back();
    const Flag* flag = FlagNamed(verb, last);
    if (flag != nullptr && flag->value != nullptr) return ValuesOf(verb, *flag);
  }
  if (verb == nullptr) AddVerbWords(plain, found);
  if (absl::StartsWith(typed, "-")) {
    if (verb != nullptr) AddFlags(verb->flags, found);
    AddFlags(GlobalFlags(), found);
  }
  std::vector<std::string> fitting;
  for (const auto& word : found) {
    if (absl::StartsWith(word, typed)) fitting.push_back(word);
  }
  return fitting;
}

absl::StatusOr<int> RunCompletion(Session& session) {
  const std::string shell = session.arguments.positionals().front();
  for (const auto& [name, script] :
       {std::pair{"bash", kBash}, std::pair{"zsh", kZsh}, std::pair{"fish", kFish}}) {
    if (shell != name) continue;
    session.PrintLine(script);
    return 0;
  }
  return UsageError("'" + shell + "' is none of bash, zsh, fish");
}

}  // namespace interlock::cli
