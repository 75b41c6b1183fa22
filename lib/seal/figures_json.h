// Figures in the store's columns, as JSON. Internal to lib/seal.
#pragma once

#include <string>
#include <vector>

#include "lib/seal/seal.h"

namespace interlock::seal {

std::string ToJson(const std::vector<Value>& values);
std::string ToJson(const std::vector<Group>& groups);
std::string ToJson(const std::vector<Delta>& deltas);
std::string ToJson(const SnapshotSpec& spec);
std::string ToJson(const GroupKey& key);

std::vector<Value> ValuesFrom(const std::string& json);
std::vector<Group> GroupsFrom(const std::string& json);
std::vector<Delta> DeltasFrom(const std::string& json);
SnapshotSpec SnapshotSpecFrom(const std::string& json);

}  // namespace interlock::seal
