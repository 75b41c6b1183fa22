// Tables of faulty specs: every kind of fault, alone in an otherwise good spec, is found
// where it stands, named, and nothing else with it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/backfill/spec.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {

inline constexpr char kHour[] = R"("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z")";
inline const std::string kSchema = "/spec/dataSchema";
inline const std::string kGranularity = "/spec/dataSchema/granularitySpec";
inline const std::string kIo = "/spec/ioConfig";
inline const std::string kSource = "/spec/ioConfig/inputSource";
inline const std::string kTuning = "/spec/tuningConfig";
inline const std::string kPartitions = "/spec/tuningConfig/partitionsSpec";

struct Faulty {
  const char* kind;
  Edits edits;
  std::vector<std::string> pointers;  // of all faults, in order
  const char* says;                   // in the first fault's found or would_do
};

inline void ExpectEachFound(const std::vector<Faulty>& all) {
  for (const Faulty& faulty : all) {
    const SpecCheck check = CheckSpec(GoodSpecWith(faulty.edits), {});
    EXPECT_FALSE(check.spec) << faulty.kind;
    EXPECT_EQ(FaultPointers(check), faulty.pointers) << faulty.kind << "\n" << Faults(check);
    if (check.faults.empty()) continue;
    const SpecFault& first = check.faults.front();
    EXPECT_THAT(absl::StrCat(first.found, " — ", first.would_do), testing::HasSubstr(faulty.says))
        << faulty.kind;
    const absl::Status status = SpecStatus(check);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(status), first.path_outside ? "PATH_OUTSIDE_UNIT" : "SPEC_INVALID");
    EXPECT_EQ(FaultsOf(status).size(), check.faults.size());
  }
}

}  // namespace interlock::backfill
