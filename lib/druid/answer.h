// What came of a call to Druid. Four outcomes, told apart in one place (classify.cc):
// done, refused, not found, unknown. Unknown is never taken for any of the others: the
// call may or may not have had its effect (P8).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "lib/time/instant.h"

namespace interlock::druid {

enum class Outcome {
  kDone,      // a reply that makes sense and says yes
  kRefused,   // Druid understood and said no; nothing changed
  kNotFound,  // Druid says, in the words it has for it, that there is no such thing
  kUnknown,   // no reply, a reply that makes no sense, or one that says nothing (5xx)
};

// Why it was refused, or what is unknown about it.
enum class Cause {
  kNone,
  // Refused
  kInvalid,        // 400: the request itself
  kAlreadyExists,  // 400 of a task id that is taken, in whatever state
  kQueueFull,      // 429, or 500 of older versions with that text: try later
  kUnauthorized,   // 401, 403: missing permission also hides things from lists
  kUnsupported,    // 404/405 of a path that this version lacks
  kNotAllowed,     // we did not send it: OBSERVE, an untrusted redirect, a spent claim
  // Unknown
  kUnreachable,  // never connected: nothing was sent
  kLost,         // sent, or partly sent, and no whole reply came
  kNoLeader,     // 503, or redirects that lead nowhere: the service is electing
  kServerError,  // other 5xx: the change may have been made (druid-measured: markUsed)
  kGarbled,      // a reply that is not what it should be: not JSON, wrong shape, too large
};

// One call's result. `T` is there only when `done()`.
template <class T>
class Answer {
 public:
  static Answer Done(T value) {
    Answer answer(Outcome::kDone, Cause::kNone, "");
    answer.value_ = std::move(value);
    return answer;
  }
  static Answer Refused(Cause cause, std::string text) {
    return Answer(Outcome::kRefused, cause, std::move(text));
  }
  static Answer NotFound(std::string text) {
    return Answer(Outcome::kNotFound, Cause::kNone, std::move(text));
  }
  static Answer Unknown(Cause cause, std::string text) {
    return Answer(Outcome::kUnknown, cause, std::move(text));
  }
  // The same outcome without its value, for a caller that asked for something else.
  template <class U>
  static Answer Like(const Answer<U>& other) {
    return Answer(other.outcome(), other.cause(), other.text());
  }

  Outcome outcome() const { return outcome_; }
  Cause cause() const { return cause_; }
  bool done() const { return outcome_ == Outcome::kDone; }
  bool refused() const { return outcome_ == Outcome::kRefused; }
  bool not_found() const { return outcome_ == Outcome::kNotFound; }
  bool unknown() const { return outcome_ == Outcome::kUnknown; }
  // One line for people: what was asked, what came, without credentials.
  const std::string& text() const { return text_; }
  // Throws std::bad_optional_access unless done. Of a temporary it is a copy of one's
  // own, so that a loop over it does not outlive what it walks through.
  const T& value() const& { return value_.value(); }
  T& value() & { return value_.value(); }
  T value() && { return std::move(value_).value(); }
  // Druid's own clock, from the reply's Date header (whole seconds).
  std::optional<Instant> druid_time() const { return druid_time_; }
  void set_druid_time(std::optional<Instant> instant) { druid_time_ = instant; }

 private:
  Answer(Outcome outcome, Cause cause, std::string text)
      : outcome_(outcome), cause_(cause), text_(std::move(text)) {}

  Outcome outcome_;
  Cause cause_;
  std::string text_;
  std::optional<T> value_;
  std::optional<Instant> druid_time_;
};

struct Nothing {};  // the value of a call that has none

}  // namespace interlock::druid
