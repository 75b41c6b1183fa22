#include "lib/seal/seal_errors.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::seal {
namespace {

absl::Status Invalid(absl::string_view reason, const std::string& field, absl::string_view found,
                     absl::string_view would_do) {
  absl::Status status = WithReason(
      absl::InvalidArgumentError(absl::StrCat("/", field, " ", found, "; ", would_do)), reason);
  AddFault(status, "/" + field, found, would_do);
  return status;
}

absl::Status Refused(absl::string_view reason, absl::string_view text) {
  return WithReason(absl::FailedPreconditionError(text), reason);
}

}  // namespace

absl::Status UnknownSeal(absl::string_view id) {
  return WithReason(
      absl::NotFoundError(absl::StrCat("there is no seal '", id,
                                       "'; interlockctl seals list shows those there are")),
      "UNKNOWN_SEAL");
}
absl::Status UnknownSealPolicy(absl::string_view name) {
  return WithReason(
      absl::NotFoundError(absl::StrCat("there is no seal policy '", name,
                                       "'; interlockctl seals policy list shows those there are")),
      "UNKNOWN_SEAL_POLICY");
}
absl::Status ReasonRequired(absl::string_view what_for) {
  return Invalid("REASON_REQUIRED", "reason", "is missing", absl::StrCat("say why, ", what_for));
}
absl::Status RequestIdReused(absl::string_view request_id, absl::string_view id) {
  return Invalid("REQUEST_ID_REUSED", "request_id",
                 absl::StrCat("'", request_id, "' belongs to another request, which made ", id),
                 "take a new one, or ask the same again");
}
absl::Status InvalidSnapshot(const std::string& field, absl::string_view found,
                             absl::string_view would_do) {
  return Invalid("INVALID_SNAPSHOT", "snapshot/" + field, found, would_do);
}
absl::Status UnsealTooLong(absl::string_view asked) {
  return Invalid("UNSEAL_TOO_LONG", "unseal_for", absl::StrCat("is ", asked),
                 "give more than 0 and at most 24h");
}
absl::Status BadPageToken(absl::string_view token) {
  return Invalid("BAD_PAGE_TOKEN", "page_token", absl::StrCat("is '", token, "'"),
                 "take next_page_token of the page before");
}
absl::Status InvalidPolicy(absl::string_view reason, const std::string& field,
                           absl::string_view found, absl::string_view would_do) {
  return Invalid(reason, "policy/" + field, found, would_do);
}
absl::Status InvalidDatasource(const std::string& field, absl::string_view found) {
  return Invalid("INVALID_DATASOURCE", field,
                 found.empty()
                     ? std::string("is missing")
                     : absl::StrCat("is '", found.substr(0, 256), "', no name that Druid takes"),
                 "name a datasource without '/' or a '.' in front, of at most 255 characters");
}
absl::Status CorrectionsInto(const std::string& field, absl::string_view sealed) {
  return Invalid(
      "INVALID_DATASOURCE", field,
      absl::StrCat("is '", sealed, "', which is what is sealed: corrections stand beside it"),
      "name another datasource, or leave it out for <datasource>__corrections");
}
absl::Status Misaligned(const Interval& asked, const Interval& chunk, const Interval& would_do) {
  return Invalid("MISALIGNED", "interval",
                 absl::StrCat("is ", asked.ToString(), ", and the segments of ", chunk.ToString(),
                              " stick out of it"),
                 absl::StrCat("seal whole partitions: ", would_do.ToString()));
}
absl::Status AlreadySealed(const Seal& seal) {
  if (seal.state == State::kSealing) {
    return WithReason(absl::FailedPreconditionError(absl::StrCat(
                          seal.interval.ToString(), " of ", seal.datasource, " is being sealed by ",
                          seal.sealed_by, " since ", seal.created.ToString(),
                          "; ask again: it is over, or given up, by ",
                          seal.unseal_until.value_or(seal.created).ToString())),
                      "ALREADY_SEALED", {{"seal_id", seal.id}});
  }
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          seal.interval.ToString(), " of ", seal.datasource, " is sealed already: seal ", seal.id,
          seal.label.empty() ? "" : absl::StrCat(" (", seal.label, ")"), " of ", seal.sealed_by,
          "; seal what is beside it")),
      "ALREADY_SEALED", {{"seal_id", seal.id}});
}
absl::Status NotSealed(const Seal& seal, State state) {
  return WithReason(absl::FailedPreconditionError(
                        absl::StrCat("seal ", seal.id, " is ", NameOf(state), ", not ACTIVE")),
                    "NOT_SEALED", {{"seal_id", seal.id}});
}
absl::Status NotSingleVersion(const Interval& where, absl::string_view found) {
  return Refused("NOT_SINGLE_VERSION",
                 absl::StrCat(where.ToString(), ": ", found,
                              "; verify the interval, and seal it once it is good"));
}
absl::Status CompactionConfigured(absl::string_view datasource) {
  return Refused("COMPACTION_CONFIGURED",
                 absl::StrCat("compaction is configured for ", datasource,
                              " and will rewrite what is sealed; turn it off, or accept it "
                              "(accept_compaction): then it is reported as what it is"));
}
absl::Status NothingToSeal(absl::string_view datasource, const Interval& interval) {
  return Refused("NOTHING_TO_SEAL", absl::StrCat("there is no visible segment of ", datasource,
                                                 " in ", interval.ToString()));
}
absl::Status ChangedMeanwhile(const Interval& interval) {
  return WithRetryAfter(
      WithReason(absl::UnavailableError(absl::StrCat("segments of ", interval.ToString(),
                                                     " changed while their figures were read; "
                                                     "something writes there: try again")),
                 "CHANGED_MEANWHILE"),
      std::chrono::seconds(30));
}
absl::Status SnapshotTooLarge(int64_t most) {
  return WithReason(absl::ResourceExhaustedError(
                        absl::StrCat("the snapshot has more than ", most,
                                     " groups; take fewer dimensions, or a shorter interval")),
                    "SNAPSHOT_TOO_LARGE");
}
absl::Status DruidUnavailable(absl::string_view why) {
  return WithRetryAfter(WithReason(absl::UnavailableError(why), "DRUID_UNAVAILABLE"),
                        std::chrono::seconds(5));
}
absl::Status CorrectionNotSealed(const Interval& where) {
  return Refused("NOT_SEALED", absl::StrCat(where.ToString(),
                                            " is not sealed, so there is nothing to correct; "
                                            "submit it without `correction`, and the sealed part "
                                            "with it"));
}

}  // namespace interlock::seal
