// The texts with which Druid (Jackson, really) refuses a task, as measured.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock::simulator {

// "Cannot construct instance of `CLASS`, problem: …"
absl::Status CannotConstruct(absl::string_view java_class, absl::string_view problem);
// A type id that no loaded extension knows.
absl::Status UnknownType(absl::string_view type, absl::string_view java_class,
                         absl::string_view known, absl::string_view property);
// A value that is of another JSON type than the field.
absl::Status WrongType(absl::string_view java_type, absl::string_view found);
absl::Status BadInterval(absl::string_view text, absl::string_view why, absl::string_view chain);
absl::Status BadInstant(absl::string_view text, absl::string_view chain);
// Druid could; this simulator does not.
absl::Status NotSimulated(absl::string_view what);

inline constexpr char kTaskClass[] =
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexSupervisorTask";
inline constexpr char kSpecClass[] =
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexIngestionSpec";
inline constexpr char kTuningClass[] =
    "org.apache.druid.indexing.common.task.batch.parallel.ParallelIndexTuningConfig";
inline constexpr char kSchemaClass[] = "org.apache.druid.segment.indexing.DataSchema";
inline constexpr char kKillClass[] = "org.apache.druid.indexing.common.task.KillUnusedSegmentsTask";

}  // namespace interlock::simulator
