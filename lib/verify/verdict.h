// What can be said of a partition, with what was seen and what to do about it.
//
// Several verdicts can hold at once. None is ever concluded from a reply that is missing
// or makes no sense: that is UNDETERMINED (P8).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace interlock::verify {

enum class Verdict {
  kSingleVersion,           // queries read one version, with its core partitions complete
  kDoubleVersion,           // a version that no query reads is still used past its grace
  kIncompletePartitionSet,  // a newer version lacks core partitions, so the older is seen
  kPartiallyCovered,        // a newer version hides only a part of an older one
  kDuplicateRows,           // more rows than expected, or signs of a repeated append
  kMissingRows,             // fewer rows than expected
  kNeighbourChanged,        // ours by mistake: a task wrote outside of its unit
  kNotLoaded,               // used and visible, and not all of it served yet
  kNeverLoads,              // used and visible, and no rule will ever have it served
  kNotRetired,              // an older version is still used; only at level RETIRED
  kForeignWrite,            // somebody else's version, or change, that nothing explains
  kTombstoned,              // replaced by nothing: visible, without rows
  kEmpty,                   // no used segment
  kRowsNotProvable,         // a note: there is nothing to compare rows with
  kUndetermined,            // it can't be told now
};

// "SINGLE_VERSION" …: stable, for scripts and metrics.
absl::string_view NameOf(Verdict verdict);
// kUndetermined for a name that is none.
Verdict VerdictOf(absl::string_view name);

// How far a proof goes.
enum class Level {
  kVisible,  // queries read one version
  kServed,   // and all of it is loaded
  kRetired,  // and no older version is used any more
};

// A sign below this score is reported, and no fault by itself: late rows that a stream
// appended look like an append that ran twice.
inline constexpr double kTellingScore = 0.5;

struct Finding {
  Verdict verdict = Verdict::kUndetermined;
  // Narrows the verdict: "USED_PAST_GRACE", "ZERO_REPLICAS" …; stable, like its name.
  std::string reason;
  std::string evidence;               // what was seen
  std::string next;                   // what to do; "" where all is well
  std::vector<std::string> segments;  // the ids that the evidence speaks of
  // How sure it is: 1 for what was counted; below for signs that may have another cause.
  double score = 1;
};

// With the verdict's own words on what to do next. Without a reason, the verdict's name.
Finding MakeFinding(Verdict verdict, std::string evidence, std::vector<std::string> segments = {},
                    double score = 1, std::string reason = "");

// Something is wrong: not good, and not merely untold.
bool IsFault(const Finding& finding);

// Good is: nothing but one version, a tombstone or nothing at all, with rows as expected.
bool IsGood(const std::vector<Finding>& findings);
// Neither good nor bad: something could not be told, and nothing else is wrong.
bool IsUndetermined(const std::vector<Finding>& findings);
bool Has(const std::vector<Finding>& findings, Verdict verdict);

// How far it has got by what was found, up to the level that was looked at; rows do not
// count here. Nothing where queries read no single version, or it is not known.
std::optional<Level> ReachedLevel(const std::vector<Finding>& findings, Level looked_at);

}  // namespace interlock::verify
