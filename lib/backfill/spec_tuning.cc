#include "lib/backfill/spec_tuning.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/spec_members.h"

namespace interlock::backfill {
namespace {

constexpr char kType[] = "index_parallel";
constexpr int64_t kUnset = -1;  // PartitionsSpec.resolveHistoricalNullIfNeeded

// A count: whole, positive, an int of Java's. Of rows and shards -1 is how old Druids wrote
// "unset". True when it is set.
bool CheckCount(const Node& node, bool may_be_unset = true) {
  const std::optional<int64_t> count = node.Int();
  if (!count || (may_be_unset && *count == kUnset)) return false;
  if (*count <= 0) {
    node.Fault(absl::StrCat("is ", *count, ", not a positive number"),
               "write a positive number, or leave it out for Druid's default");
  } else if (*count > std::numeric_limits<int32_t>::max()) {
    node.Fault(absl::StrCat("is ", *count, ", more than Druid's 32-bit integer holds"), "");
  }
  return true;
}

void CheckAtMostOne(const Node& spec, std::initializer_list<const char*> names) {
  std::string first;
  for (const char* name : names) {
    const Node node = spec.At(name);
    if (!CheckCount(node)) continue;
    if (first.empty()) {
      first = name;
    } else {
      node.Fault(absl::StrCat("is given beside ", first, "; Druid takes one of them"),
                 absl::StrCat("keep ", first, " alone"), "");
    }
  }
}

// Exactly one of target and max rows, as range partitioning wants it.
void CheckRangeRows(const Node& spec) {
  CheckAtMostOne(spec, {"targetRowsPerSegment", "maxRowsPerSegment"});
  if (!spec.At("targetRowsPerSegment").present() && !spec.At("maxRowsPerSegment").present()) {
    spec.At("targetRowsPerSegment")
        .Fault("is missing, and maxRowsPerSegment too", "give one of the two, e.g. 3000000");
  }
}

void CheckDimensionNames(const Node& node, bool required) {
  if (!node.present() || (node.is_array() && node.size() == 0)) {
    if (required) node.Fault("is missing", "name the dimensions to partition by, in order");
    return;
  }
  for (const std::string& name : node.Strings()) {
    if (name.empty()) node.Fault("holds an empty name", "name a dimension");
  }
}

void CheckDynamic(const Node& spec, const Node& guaranteed) {
  CheckMembers(spec, Place::kDynamicPartitions);
  CheckCount(spec.At("maxRowsPerSegment"));
  const Node total = spec.At("maxTotalRows");
  if (const std::optional<int64_t> rows = total.Int(); rows && *rows <= 0 && *rows != kUnset) {
    total.Fault(absl::StrCat("is ", *rows, ", not a positive number"),
                "write a positive number, or leave it out");
  }
  if (guaranteed.present() && guaranteed.value()->IsTrue()) {
    guaranteed.Fault("is true with dynamic partitioning, which Druid refuses",
                     "partition by hashed or range, or set it to false", "false");
  }
}

// Hashed, range and single_dim shuffle rows, which is what perfect roll-up is.
void WantGuaranteedRollup(const Node& guaranteed, absl::string_view type) {
  if (guaranteed.present() && !guaranteed.value()->IsBool()) return;  // already a fault
  if (guaranteed.present() && guaranteed.value()->IsTrue()) return;
  guaranteed.Fault(absl::StrCat("is not true; Druid wants it for ", type, " partitioning"),
                   "set it to true, or partition dynamically", "true");
}

void CheckPartitionsSpec(const Node& spec, const Node& guaranteed, const TuningContext& context) {
  if (!spec.Object()) return;
  const Node type_node = spec.At("type");
  const std::optional<std::string> type =
      type_node.RequiredString("dynamic, hashed, range or single_dim");
  if (!type) return;
  if (*type == "dynamic") {
    CheckDynamic(spec, guaranteed);
    return;
  }
  if (*type == "hashed") {
    CheckMembers(spec, Place::kHashedPartitions);
    CheckAtMostOne(
        spec, {"targetRowsPerSegment", "targetPartitionSize", "maxRowsPerSegment", "numShards"});
    CheckDimensionNames(spec.At("partitionDimensions"), /*required=*/false);
  } else if (*type == "range") {
    CheckMembers(spec, Place::kRangePartitions);
    CheckRangeRows(spec);
    CheckDimensionNames(spec.At("partitionDimensions"), /*required=*/true);
  } else if (*type == "single_dim") {
    CheckMembers(spec, Place::kSingleDimPartitions);
    CheckRangeRows(spec);
    spec.At("partitionDimension").RequiredString("name the dimension to partition by");
  } else {
    type_node.Fault(absl::StrCat("is ", type_node.Found(), ", no partitioning of Druid's"),
                    "dynamic, hashed, range or single_dim");
    return;
  }
  WantGuaranteedRollup(guaranteed, *type);
  if (*type != "hashed" && !context.input_splits) {
    type_node.Fault(absl::StrCat(*type,
                                 " partitioning of input that is one piece: Druid takes the "
                                 "task and then fails it"),
                    "use hashed or dynamic partitioning, or input in files");
  }
}

void CheckPositive(const Node& tuning) {
  for (const char* name : {"maxNumConcurrentSubTasks", "maxNumSubTasks", "maxNumSegmentsToMerge",
                           "totalNumMergeTasks"}) {
    CheckCount(tuning.At(name), false);
  }
  if (tuning.At("maxNumSubTasks").present() && tuning.At("maxNumConcurrentSubTasks").present()) {
    tuning.At("maxNumSubTasks")
        .Fault("is given beside maxNumConcurrentSubTasks, of which it is the old name",
               "take it out", "");
  }
}

// The members that partitionsSpec took over; Druid refuses most of them beside it.
void CheckOldPartitioning(const Node& tuning) {
  for (const char* name : {"targetPartitionSize", "maxRowsPerSegment", "maxTotalRows", "numShards",
                           "partitionDimensions"}) {
    const Node node = tuning.At(name);
    if (!node.present() || (node.value()->IsInt64() && node.value()->GetInt64() == kUnset))
      continue;
    if (tuning.At("partitionsSpec").present()) {
      node.Fault("is the old form, beside a partitionsSpec", "take it out", "");
    } else {
      node.Fault("is the old form of partitioning", "put it into a partitionsSpec");
    }
  }
}

}  // namespace

void CheckTuningConfig(const Node& tuning, const TuningContext& context) {
  if (!tuning.Object()) return;  // missing: Druid's defaults, dynamic partitioning
  CheckMembers(tuning, Place::kTuningConfig);
  const Node type = tuning.At("type");
  const std::optional<std::string> name = type.RequiredString("write \"index_parallel\"");
  if (name && *name != kType) {
    type.Fault(absl::StrCat("is ", type.Found(), " in an index_parallel task"),
               "write \"index_parallel\"", JsonQuoted(kType));
  }
  CheckPositive(tuning);
  CheckOldPartitioning(tuning);
  const Node guaranteed = tuning.At("forceGuaranteedRollup");
  const bool wants_perfect = guaranteed.Bool().value_or(false);
  CheckPartitionsSpec(tuning.At("partitionsSpec"), guaranteed, context);
  if (wants_perfect && context.appends) {
    guaranteed.Fault(
        "is true, and perfect roll-up can't be had when appending: what is there is "
        "not read again",
        "replace instead of appending (see /spec/ioConfig)");
  }
}

namespace {

// Locks that let others write beside a replacing job, or take locks from a stream.
void CheckLocks(const Node& context, bool accept_concurrent) {
  const Node chunk = context.At("forceTimeChunkLock");
  if (const auto value = chunk.Bool(); value && !*value) {
    chunk.Fault(
        "is false: segment locks don't keep streams out of the time chunk, and the task "
        "can wait for ever",
        "take it out; time chunk locks are the default", "");
  }
  for (const char* name : {"useConcurrentLocks", "useSharedLock"}) {
    const Node node = context.At(name);
    if (accept_concurrent && absl::string_view(name) == "useConcurrentLocks" &&
        node.Bool().value_or(false)) {
      node.Warn(
          "is true, as was consented to: rows that a stream has read and not yet published are "
          "moved onto the backfill's version, and count twice where its input has them",
          "take it out, and use the handover");
      continue;
    }
    if (const auto value = node.Bool(); value && *value) {
      node.Fault(
          "is true: rows that a stream has read and not yet published would be moved onto "
          "the backfill's version, and count twice",
          "take it out; the backfill needs the interval alone", "");
    }
  }
  const Node lock = context.At("taskLockType");
  if (const auto type = lock.String(); type && *type != "EXCLUSIVE") {
    lock.Fault(absl::StrCat("is ", lock.Found(), ": others could write beside the backfill"),
               "take it out; EXCLUSIVE is the default", "");
  }
}

}  // namespace

void CheckContext(const Node& context, bool accept_concurrent_locks) {
  if (!context.Object()) return;
  const std::vector<absl::string_view> ruled = {"forceTimeChunkLock", "useConcurrentLocks",
                                                "useSharedLock",      "taskLockType",
                                                "priority",           kContextMember};
  for (const auto& [name, node] : context.Members()) {
    if (name == kContextMember) {
      node.Fault("is Interlock's own member", "take it out; it is written at submit", "");
    } else if (const std::string meant = LikelyMeant(name, ruled);
               !meant.empty() && meant != name) {
      node.Fault("is no context parameter that Druid knows, and would be ignored in silence",
                 absl::StrCat("write `", meant, "`"));
    }
  }
  const Node priority = context.At("priority");
  if (const auto value = priority.Int(); value && *value > kStreamPriority) {
    priority.Fault(absl::StrCat("is ", *value, ", above the ", kStreamPriority,
                                " of streams: their locks would be revoked, and their rows read "
                                "twice"),
                   absl::StrCat("leave it out for 50, or write at most ", kStreamPriority), "");
  }
  CheckLocks(context, accept_concurrent_locks);
}

}  // namespace interlock::backfill
