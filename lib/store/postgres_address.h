// Where the database is and how to reach it, made ready for libpq.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/store/postgres.h"

namespace interlock::store {

struct PostgresAddress {
  std::string text;      // for PQconnectdb; holds the password
  std::string password;  // "" where there is none

  // `message` without the password, should it stand there.
  std::string WithoutPassword(absl::string_view message) const;
};

// What `options` say, with values for what they leave open. STORE_CONNECTION_STRING where
// libpq does not take it: never quotes it.
absl::StatusOr<PostgresAddress> AddressOf(const PostgresOptions& options);

}  // namespace interlock::store
