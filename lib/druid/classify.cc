#include "lib/druid/classify.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "lib/druid/error_body.h"

namespace interlock::druid {
namespace {

using Exchange = HttpReply::Exchange;

Verdict Refused(const Asked& asked, Cause cause, const std::string& text) {
  return {Outcome::kRefused, cause, absl::StrCat(asked.what, ": ", text)};
}

Verdict Unknown(const Asked& asked, Cause cause, const std::string& text) {
  return {Outcome::kUnknown, cause, absl::StrCat(asked.what, ": ", text)};
}

std::string Said(const HttpReply& reply, const ErrorBody& body) {
  if (body.text.empty()) return absl::StrCat(reply.status, " without a text");
  return absl::StrCat(reply.status, " ", Shortened(body.text));
}

bool LooksLikeJson(const HttpReply& reply) {
  if (absl::StrContains(absl::AsciiStrToLower(reply.content_type), "html")) return false;
  const absl::string_view body = absl::StripLeadingAsciiWhitespace(reply.body);
  return body.empty() || absl::StrContains("{[\"-0123456789tfn", body.substr(0, 1));
}

Verdict ClassifySuccess(const Asked& asked, const HttpReply& reply) {
  if (asked.json && !LooksLikeJson(reply)) {
    return Garbled(asked, absl::StrCat(reply.status,
                                       " with something that is no JSON: ", Shortened(reply.body)));
  }
  return {Outcome::kDone, Cause::kNone, ""};
}

// Druid up to 27 says "Task[ID] already exists!", 28 "Task [ID] already exists.", later
// ones have an error code. The text of another refusal can hold the id as well, so all
// of it must match.
bool SaysIdIsTaken(const Asked& asked, const ErrorBody& body) {
  if (!asked.submits) return false;
  if (body.code == "entryAlreadyExists") return true;
  const absl::string_view text = absl::StripSuffix(absl::StripSuffix(body.text, "!"), ".");
  return text == absl::StrCat("Task[", asked.task_id, "] already exists") ||
         text == absl::StrCat("Task [", asked.task_id, "] already exists");
}

Verdict ClassifyBadRequest(const Asked& asked, const HttpReply& reply, const ErrorBody& body) {
  const Cause cause = SaysIdIsTaken(asked, body) ? Cause::kAlreadyExists : Cause::kInvalid;
  return Refused(asked, cause, Said(reply, body));
}

// A 404 that means "there is no such thing" comes in Druid's words or shape for it.
bool SaysNotFound(const Asked& asked, const HttpReply& reply, const ErrorBody& body) {
  if (body.code == "notFound") return true;
  const absl::string_view text = absl::StripAsciiWhitespace(reply.body);
  if (!asked.supervisor_id.empty() &&
      text == absl::StrCat("Cannot find any supervisor with id: [", asked.supervisor_id, "]")) {
    return true;
  }
  if (asked.task_id.empty()) return false;
  return text == absl::StrCat("Cannot find any task with id: [", asked.task_id, "]") ||
         absl::StartsWith(text, "No task reports were found for this task.") ||
         (body.task == asked.task_id && body.has_null_status);
}

Verdict ClassifyNotFound(const Asked& asked, const HttpReply& reply, const ErrorBody& body) {
  if (SaysNotFound(asked, reply, body)) {
    return {Outcome::kNotFound, Cause::kNone, absl::StrCat(asked.what, ": ", Said(reply, body))};
  }
  // A path that no resource of this version serves: no body, and no type for it. A
  // resource that finds nothing states a type even of an empty body.
  if (reply.body.empty() && reply.content_type.empty()) {
    return Refused(asked, Cause::kUnsupported, "404: this Druid has no such path");
  }
  return Unknown(asked, Cause::kGarbled,
                 absl::StrCat("a 404 that is not in Druid's words: ", Said(reply, body)));
}

Verdict ClassifyServerError(const Asked& asked, const HttpReply& reply, const ErrorBody& body) {
  if (reply.status == 503) return Unknown(asked, Cause::kNoLeader, Said(reply, body));
  // A broker that starts a query's task passes on what the overlord said, as 500.
  if (asked.submits && asked.by_broker &&
      absl::StrContains(reply.body, absl::StrCat("Task [", asked.task_id, "] already exists."))) {
    return Refused(asked, Cause::kAlreadyExists, Said(reply, body));
  }
  // How versions up to 28 say 429.
  if (asked.submits && reply.status == 500 && absl::StrContains(body.text, "Too many tasks")) {
    return Refused(asked, Cause::kQueueFull, Said(reply, body));
  }
  return Unknown(asked, Cause::kServerError, Said(reply, body));
}

// Of these a client, or a proxy, is told that its request was not acted upon.
bool RefusesRequest(int status) {
  constexpr int kRefusals[] = {406, 409, 411, 413, 414, 415, 422, 431};
  return std::find(std::begin(kRefusals), std::end(kRefusals), status) != std::end(kRefusals);
}

Verdict ClassifyClientError(const Asked& asked, const HttpReply& reply, const ErrorBody& body) {
  switch (reply.status) {
    case 400:
      return ClassifyBadRequest(asked, reply, body);
    case 401:
    case 403:
      return Refused(asked, Cause::kUnauthorized, Said(reply, body));
    case 404:
      return ClassifyNotFound(asked, reply, body);
    case 405:
      return Refused(asked, Cause::kUnsupported, Said(reply, body));
    case 429:
      return Refused(asked, Cause::kQueueFull, Said(reply, body));
    default:
      if (RefusesRequest(reply.status)) return Refused(asked, Cause::kInvalid, Said(reply, body));
      return Unknown(asked, Cause::kGarbled, Said(reply, body));
  }
}

// Those that could be followed have been (redirect.h). After a restart an overlord sends
// its callers to itself for up to half a minute.
Verdict ClassifyRedirect(const Asked& asked, const HttpReply& reply) {
  const bool druids = reply.status == 307 || reply.status == 308;
  return Unknown(asked, druids ? Cause::kNoLeader : Cause::kGarbled,
                 absl::StrCat(reply.status, " to ",
                              reply.location.empty() ? "nowhere" : Shortened(reply.location)));
}

Verdict ClassifyIncomplete(const Asked& asked, const HttpReply& reply) {
  if (reply.exchange == Exchange::kNotConnected) {
    return Unknown(asked, Cause::kUnreachable, absl::StrCat("not connected: ", reply.error));
  }
  if (reply.cut_by_us) return Garbled(asked, reply.error);
  return Unknown(asked, Cause::kLost, absl::StrCat("no whole reply: ", reply.error));
}

}  // namespace

Verdict Garbled(const Asked& asked, const std::string& why) {
  return Unknown(asked, Cause::kGarbled, why);
}

Verdict Classify(const Asked& asked, const HttpReply& reply) {
  if (reply.exchange != Exchange::kWhole) return ClassifyIncomplete(asked, reply);
  if (reply.status / 100 == 2) return ClassifySuccess(asked, reply);
  if (asked.probe && (reply.status == 400 || reply.status == 405)) {
    return {Outcome::kDone, Cause::kNone, ""};
  }
  const ErrorBody body = ReadErrorBody(reply);
  switch (reply.status / 100) {
    case 3:
      return ClassifyRedirect(asked, reply);
    case 4:
      return ClassifyClientError(asked, reply, body);
    case 5:
      return ClassifyServerError(asked, reply, body);
    default:
      return Garbled(asked, Said(reply, body));
  }
}

std::optional<Instant> ParseHttpDate(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %E4Y %H:%M:%S GMT", text, absl::UTCTimeZone(), &time, &error)) {
    return std::nullopt;
  }
  return Instant::FromTime(time);
}

}  // namespace interlock::druid
