#include "lib/store/facts.h"

#include <random>

#include "absl/strings/string_view.h"

namespace interlock::store {
namespace {

absl::Status Write(Connection& connection, const char* name, const Value& text,
                   const Value& number) {
  return connection
      .Execute(
          "INSERT INTO store_facts (name, text, number) VALUES (:name, :text, :number)"
          " ON CONFLICT (name) DO UPDATE SET text = excluded.text, number = excluded.number",
          {name, text, number})
      .status();
}

}  // namespace

Schema FactsSchema() {
  return {"store",
          {{
              "CREATE TABLE store_facts (name TEXT NOT NULL PRIMARY KEY, text TEXT, number BIGINT)"
              " {{clustered}}",
          }},
          {}};
}

absl::StatusOr<Facts> ReadFacts(Connection& connection) {
  absl::StatusOr<Rows> rows = connection.Query("SELECT name, text, number FROM store_facts", {});
  if (!rows.ok()) return rows.status();
  Facts facts;
  ClockFacts clock;
  for (const Row& row : *rows) {
    const std::string name = row.Text(0);
    if (name == "incarnation") facts.incarnation = row.Text(1);
    if (name == "origin") facts.origin = row.Text(1);
    if (name == "is_backup") facts.is_backup = row.Flag(2);
    if (name == "has_mark_file") facts.has_mark_file = row.Flag(2);
    if (name == "clock_boot") {
      clock.boot_id = row.Text(1);
      clock.offset_ms = row.Int(2);
    }
    if (name == "clock_mark") {
      clock.mark = row.At(2);
      facts.clock = clock;
    }
  }
  // Rows come in any order.
  if (facts.clock.has_value()) {
    facts.clock->boot_id = clock.boot_id;
    facts.clock->offset_ms = clock.offset_ms;
  }
  return facts;
}

absl::Status WriteIncarnation(Connection& connection, const std::string& incarnation) {
  return Write(connection, "incarnation", incarnation, nullptr);
}

absl::Status WriteClock(Connection& connection, const ClockFacts& clock) {
  absl::Status status = Write(connection, "clock_boot", clock.boot_id, clock.offset_ms);
  if (!status.ok()) return status;
  return Write(connection, "clock_mark", nullptr, clock.mark);
}

absl::Status WriteIsBackup(Connection& connection, bool is_backup) {
  return Write(connection, "is_backup", nullptr, is_backup);
}

absl::Status WriteHasMarkFile(Connection& connection) {
  return Write(connection, "has_mark_file", nullptr, true);
}

absl::Status WriteTokenFloor(Connection& connection, int64_t floor) {
  return Write(connection, "token_floor", nullptr, floor);
}

int64_t TokenFloorAt(Instant wall) {
  constexpr int64_t kTokensPerMillisecond = 1024;
  return wall.millis() * kTokensPerMillisecond;
}

absl::Status WriteOrigin(Connection& connection, const std::string& origin) {
  return Write(connection, "origin", origin, nullptr);
}

std::string NewIncarnation() {
  static constexpr absl::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  std::random_device random;
  std::string incarnation;
  for (int i = 0; i < 16; ++i) incarnation += kLetters[random() % kLetters.size()];
  return incarnation;
}

}  // namespace interlock::store
