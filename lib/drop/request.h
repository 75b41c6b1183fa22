// What a caller asks for when it asks for a drop.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/drop/options.h"
#include "lib/time/interval.h"

namespace interlock::drop {

struct DropRequest {
  std::string datasource;
  std::vector<Interval> intervals;  // any; made condensed
  std::string holder;               // a name below the caller's identity; may be empty
  std::map<std::string, std::string> labels;
  std::optional<absl::Duration> window;  // Options::default_window where not given
  std::optional<absl::Duration> floor;   // can only raise the operator's
  bool approval = false;
  // Consent to a kill duty of Druid's that may kill inside the window.
  bool accept_kill_duty = false;
  // Consent to leave segments that the intervals cut.
  bool accept_partial_cover = false;
  // A plan's digest; "" for whatever is there.
  std::string plan_revision;
  // Act under this reservation while marking, in place of one of our own.
  std::string reservation_id;
  int64_t token = 0;
  // Of one that a retention policy makes: which policy, which of its runs, and which of
  // the run's caps it is beyond ("" for none): it then asks a person before it begins.
  std::string retention_policy;
  std::optional<Instant> retention_run;
  std::string cap;
};

// The request with its defaults filled in and its intervals condensed, or every rule that
// it breaks, one after the other: names, limits, window, floor. Asks nobody.
absl::StatusOr<DropRequest> Checked(DropRequest request, const Options& options);
// The same for who asks: a reason, if there is one, and an id that can be stored.
absl::Status CheckCaller(const audit::Caller& caller);

// Digest of all that was asked, to tell a repeated request from another with its id.
std::string Fingerprint(const DropRequest& request, const std::string& reason);

}  // namespace interlock::drop
