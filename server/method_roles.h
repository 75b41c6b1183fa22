// Which role each method of the API wants, and who has it.
//
// As long as the configuration has no bindings (`access`), whoever reaches the server may do
// everything: it listens on loopback, or asks for certificates.
//
// Threads: functions without state.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace interlock::server {

struct MethodRole {
  absl::string_view method;  // "SubmitBackfill"; no two services have one of the same name
  absl::string_view role;    // read, reserve, backfill, drop, approve, seal, admin
  bool on_datasource;        // it acts on one, or on what belongs to one
};

// Of a method by its name, with or without its service ("Backfills/PauseBackfill").
// INVALID_ARGUMENT, UNKNOWN_METHOD.
absl::StatusOr<MethodRole> RoleOf(const std::string& method);

// All roles there are.
std::vector<std::string> AllRoles();

}  // namespace interlock::server
