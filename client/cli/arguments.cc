#include "client/cli/arguments.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/nearest.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {

absl::Status UsageError(const std::string& message) {
  return WithReason(absl::InvalidArgumentError(message), "USAGE");
}

bool IsOptional(const Positional& positional) { return positional.name[0] == '['; }

bool IsRepeated(const Positional& positional) { return absl::StrContains(positional.name, "..."); }

std::string Arguments::Get(const std::string& flag) const {
  if (const auto given = flags_.find(flag); given != flags_.end()) return given->second.back();
  const auto by_variable = defaults_.find(flag);
  return by_variable == defaults_.end() ? "" : by_variable->second;
}

std::vector<std::string> Arguments::All(const std::string& flag) const {
  const auto given = flags_.find(flag);
  if (given != flags_.end()) return given->second;
  return Has(flag) ? std::vector<std::string>{Get(flag)} : std::vector<std::string>{};
}

class ArgumentsParser {
 public:
  ArgumentsParser(const std::vector<std::string>& words, const std::vector<Verb>& verbs)
      : words_(words), verbs_(verbs) {}

  absl::Status Run(const Environment& environment) {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") {
        if (absl::Status status = Command(); !status.ok()) return status;
        break;
      }
      // An instant of a year before 0 begins with a dash: -146136543-09-08T08:23:32.096Z/…
      const bool is_flag = word.size() > 1 && word[0] == '-' && !absl::ascii_isdigit(word[1]);
      if (absl::Status status = is_flag ? ReadFlag(word) : ReadWord(word); !status.ok()) {
        return status;
      }
    }
    if (read_.Given("help")) read_.group_ = so_far_;
    if (read_.Given("help") || read_.Given("version")) return absl::OkStatus();
    if (absl::Status status = Complete(); !status.ok()) return status;
    Defaults(environment);
    return absl::OkStatus();
  }

  Arguments Take() { return std::move(read_); }

 private:
  // Words are gathered until they name a verb; what comes then are positionals.
  absl::Status ReadWord(const std::string& word) {
    if (read_.verb_ != nullptr) {
      read_.positionals_.push_back(word);
      return absl::OkStatus();
    }
    const std::string longer = so_far_.empty() ? word : absl::StrCat(so_far_, " ", word);
    bool begins = false;
    for (const Verb& verb : verbs_) {
      if (longer == verb.words) read_.verb_ = &verb;
      begins = begins || absl::StartsWith(verb.words, longer + " ");
    }
    if (read_.verb_ == nullptr && !begins) return UnknownVerb(word);
    so_far_ = longer;
    // `findings` is a verb although nothing longer begins so; where both were so, the
    // longer one would never be reached, and a test of the table says it.
    return absl::OkStatus();
  }

  std::vector<std::string> NextWords() const {
    const std::string prefix = so_far_.empty() ? "" : so_far_ + " ";
    std::vector<std::string> next;
    for (const Verb& verb : verbs_) {
      if (!absl::StartsWith(verb.words, prefix)) continue;
      const std::string rest = std::string(verb.words).substr(prefix.size());
      const std::string first = rest.substr(0, rest.find(' '));
      if (next.empty() || next.back() != first) next.push_back(first);
    }
    return next;
  }

  absl::Status UnknownVerb(const std::string& word) const {
    const std::vector<std::string> next = NextWords();
    const std::string nearest = Nearest(word, next);
    const std::string of = so_far_.empty() ? "" : absl::StrCat(" of '", so_far_, "'");
    return UsageError(absl::StrCat("'", word, "' is no verb", of,
                                   nearest.empty()
                                       ? absl::StrCat("; there are ", absl::StrJoin(next, ", "))
                                       : absl::StrCat("; do you mean '", nearest, "'?")));
  }

  std::vector<const Flag*> Known() const {
    std::vector<const Flag*> known;
    if (read_.verb_ != nullptr) {
      for (const Flag& flag : read_.verb_->flags) known.push_back(&flag);
    }
    for (const Flag& flag : GlobalFlags()) known.push_back(&flag);
    return known;
  }

  static bool IsGlobal(const Flag& flag) {
    return &flag >= GlobalFlags().data() && &flag < GlobalFlags().data() + GlobalFlags().size();
  }

  // An empty id is that of a script whose variable is not set: without it the call would be
  // another one, not safe to repeat, or not under the lease.
  static bool IsId(const Flag& flag) {
    return flag.name == std::string("request-id") || flag.name == std::string("reservation");
  }

  absl::Status UnknownFlag(const std::string& shown, const std::string& name) const {
    std::vector<std::string> names;
    for (const Flag* flag : Known()) names.emplace_back(flag->name);
    const std::string nearest = Nearest(name, names);
    const std::string whose =
        read_.verb_ == nullptr ? ", before a verb" : absl::StrCat(" of '", read_.verb_->words, "'");
    return UsageError(absl::StrCat(
        shown, " is no flag", whose,
        nearest.empty() ? "; --help lists them" : absl::StrCat("; do you mean --", nearest, "?")));
  }

  absl::Status ReadFlag(const std::string& word) {
    const bool is_long = absl::StartsWith(word, "--");
    const size_t equals = word.find('=');
    const std::string shown = word.substr(0, equals);
    std::string name = shown.substr(is_long ? 2 : 1);
    if (!is_long && name == "o") name = "output";
    if (!is_long && name == "h") name = "help";
    for (const Flag* flag : Known()) {
      if (name != flag->name) continue;
      // Of a global one the last counts, so that a wrapper's can be overridden.
      if (IsGlobal(*flag)) read_.flags_.erase(name);
      if (equals != std::string::npos) return Set(*flag, shown, word.substr(equals + 1), true);
      if (flag->value == nullptr) return Set(*flag, shown, "", false);
      if (at_ + 1 >= words_.size() || absl::StartsWith(words_[at_ + 1], "--")) {
        return UsageError(absl::StrCat(shown, " wants a value: ", shown, " ", flag->value));
      }
      return Set(*flag, shown, words_[++at_], true);
    }
    return UnknownFlag(shown, name);
  }

  absl::Status Set(const Flag& flag, const std::string& shown, const std::string& value,
                   bool has_value) {
    if (has_value && flag.value == nullptr) {
      return UsageError(absl::StrCat(shown, " takes no value"));
    }
    if (has_value && value.empty() && IsId(flag)) {
      return UsageError(absl::StrCat(shown, " is empty: give it an id, or leave it out"));
    }
    auto& values = read_.flags_[flag.name];
    if (!values.empty() && !flag.many) {
      return UsageError(absl::StrCat(shown, " is given twice"));
    }
    values.push_back(value);
    return absl::OkStatus();
  }

  absl::Status Command() {
    if (read_.verb_ == nullptr || !read_.verb_->takes_command) {
      return UsageError("'--' and a command after it go with 'reserve' alone");
    }
    read_.command_.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words_.end());
    if (read_.command_.empty()) return UsageError("no command after '--'");
    return absl::OkStatus();
  }

  absl::Status Complete() const {
    if (read_.verb_ == nullptr) {
      if (so_far_.empty()) return UsageError("no verb; --help lists them");
      return UsageError(
          absl::StrCat("'", so_far_, "' wants one of ", absl::StrJoin(NextWords(), ", ")));
    }
    size_t at = 0;
    for (const Positional& positional : read_.verb_->positionals) {
      if (at >= read_.positionals_.size() && !IsOptional(positional)) {
        return UsageError(absl::StrCat("'", read_.verb_->words, "' wants ", positional.name));
      }
      at = IsRepeated(positional) ? read_.positionals_.size() : at + 1;
    }
    if (at < read_.positionals_.size()) {
      return UsageError(absl::StrCat("'", read_.positionals_[at], "' is one word too many for '",
                                     read_.verb_->words, "'"));
    }
    for (const Flag& flag : read_.verb_->flags) {
      if (!flag.wanted || read_.Given(flag.name)) continue;
      return UsageError(
          absl::StrCat("'", read_.verb_->words, "' wants --", flag.name, " ", flag.value));
    }
    return absl::OkStatus();
  }

  void Defaults(const Environment& environment) {
    for (const Flag* flag : Known()) {
      if (flag->variable == nullptr) continue;
      const std::string value = environment(flag->variable);
      if (!value.empty()) read_.defaults_[flag->name] = value;
    }
  }

  const std::vector<std::string>& words_;
  const std::vector<Verb>& verbs_;
  size_t at_ = 0;
  std::string so_far_;
  Arguments read_;
};

absl::StatusOr<Arguments> Arguments::Parse(const std::vector<std::string>& words,
                                           const std::vector<Verb>& verbs,
                                           const Environment& environment) {
  ArgumentsParser parser(words, verbs);
  if (absl::Status status = parser.Run(environment); !status.ok()) return status;
  return parser.Take();
}

}  // namespace interlock::cli
