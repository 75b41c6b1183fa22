#include "lib/druid/shard_spec.h"

namespace interlock::druid {

ShardSpec MakeShardSpec(const ShardFields& fields) {
  ShardSpec shard;
  shard.type = fields.type;
  shard.partition_num = fields.partition_num.value_or(0);
  if (fields.type == "numbered" || fields.type == "hashed") {
    shard.core_partitions = fields.partitions.value_or(0);
  } else if (fields.type == "single" || fields.type == "range") {
    // -1 is how Druid itself spells "not known" here.
    shard.core_partitions = fields.num_core_partitions.value_or(-1);
    shard.known = shard.core_partitions >= 0;
  } else if (fields.type == "linear") {
    shard.core_partitions = 0;
  } else if (fields.type == "none") {
    shard.partition_num = 0;
    shard.core_partitions = 1;
  } else if (fields.type == "tombstone") {
    // 1 up to Druid 28, 0 later; complete either way.
    shard.partition_num = 0;
    shard.core_partitions = fields.partitions.value_or(0);
  } else {
    shard.known = false;
  }
  return shard;
}

}  // namespace interlock::druid
