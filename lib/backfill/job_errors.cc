#include "lib/backfill/job_errors.h"

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {

absl::Status InvalidJobName(absl::string_view name) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "`", name.substr(0, 128),
                        "` is no name of a job: 1 to 128 characters of A-Z a-z 0-9 . _ -, and "
                        "@7 after it for version 7")),
                    "INVALID_NAME");
}

absl::Status UnknownJob(absl::string_view name, int64_t version) {
  return WithReason(absl::NotFoundError(absl::StrCat(
                        "there is no job ", name, version == 0 ? "" : absl::StrCat("@", version),
                        "; interlockctl jobs list shows those there are, and their "
                        "newest versions")),
                    "UNKNOWN_JOB",
                    {{"job", std::string(name)}, {"version", absl::StrCat(version)}});
}

absl::Status VersionMoved(absl::string_view name, int64_t expected, int64_t found) {
  return WithReason(
      absl::AbortedError(absl::StrCat(
          "the newest version of ", name, " is ", found, ", not ", expected,
          found == 0 ? ": there is none yet" : ": look at what was put meanwhile, and put again")),
      "VERSION_MOVED",
      {{"expected_version", absl::StrCat(expected)}, {"version", absl::StrCat(found)}});
}

absl::Status JobRequestIdReused(absl::string_view request_id, absl::string_view job) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat("request id ", request_id, " was used to put ", job,
                                              " with other content: an id names one request for "
                                              "ever")),
      "REQUEST_ID_REUSED", {{"request_id", std::string(request_id)}, {"job", std::string(job)}});
}

absl::Status SourcesInvalid(const std::vector<Fault>& faults) {
  absl::Status status = WithReason(absl::InvalidArgumentError(absl::StrCat(
                                       "the job's sources have ", faults.size(),
                                       faults.size() == 1 ? " fault: " : " faults, the first: ",
                                       faults.front().pointer, " ", faults.front().found)),
                                   "SOURCE_INVALID");
  for (const Fault& fault : faults) AddFault(status, fault.pointer, fault.found, fault.would_do);
  return status;
}

absl::Status SourceCycle(absl::string_view job, absl::string_view way) {
  absl::Status status =
      WithReason(absl::InvalidArgumentError(absl::StrCat(
                     "job ", job, " would be derived from what is derived from it: ", way,
                     " (read: comes from); a change would run it for ever")),
                 "CYCLE", {{"job", std::string(job)}, {"way", std::string(way)}});
  AddFault(status, "/job/sources", absl::StrCat("lead back to the job's own datasource: ", way),
           "take out the source that does");
  return status;
}

absl::Status DerivedDruidUnavailable(absl::string_view why) {
  return WithReason(absl::UnavailableError(absl::StrCat(
                        "what a derived table comes from can't be read from Druid: ", why)),
                    "DRUID_UNAVAILABLE");
}

}  // namespace interlock::backfill
