// `reservations watch`: what is told once, and what is gone on from.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interlock/v1/reservations.pb.h"
#include "tests/client/cli/console.h"

namespace interlock::cli {
namespace {

using testing::HasSubstr;
using Change = v1::WatchReservationsResponse;

Change Event(Change::Event event, const std::string& id, int64_t revision) {
  Change change;
  change.set_event(event);
  change.set_revision(revision);
  change.mutable_event_time()->set_seconds(0);
  auto& lease = *change.mutable_reservation();
  lease.set_reservation_id(id);
  lease.set_datasource("ds");
  lease.add_intervals("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
  lease.set_mode(v1::Reservation::REPLACE);
  lease.set_holder("nightly");
  lease.set_purpose("late events");
  lease.set_revision(revision);
  lease.mutable_expire_time()->set_seconds(60);
  return change;
}

// A server that plays one stream after the other, and then refuses.
struct Watched : Console {
  std::vector<std::pair<std::vector<Change>, absl::Status>> streams;
  std::vector<int64_t> from;

  Watched() {
    calls.OnWatch<v1::WatchReservationsRequest, Change>(
        "Reservations.WatchReservations",
        [this](const v1::WatchReservationsRequest& request, std::vector<Change>& replies) {
          from.push_back(request.from_revision());
          if (from.size() > streams.size()) {
            return Refusal(absl::StatusCode::kPermissionDenied, "that is all", "PERMISSION_DENIED");
          }
          replies = streams[from.size() - 1].first;
          return streams[from.size() - 1].second;
        });
  }
};

TEST(WatchReservations, TellsEachEventInALine) {
  Watched server;
  server.terminal = true;
  server.streams = {{{Event(Change::GRANTED, "r-1", 1), Change(), Event(Change::EXPIRED, "r-1", 2)},
                     absl::OkStatus()}};
  EXPECT_EQ(server.Run({"reservations", "watch", "ds"}), 4);
  EXPECT_EQ(server.out,
            "1970-01-01T00:00:00Z  GRANTED  r-1  2026-07-16T13  REPLACE  nightly (late events)  "
            "until 1970-01-01T00:01:00Z\n"
            "1970-01-01T00:00:00Z  EXPIRED  r-1  2026-07-16T13  REPLACE  nightly (late events)\n");
}

TEST(WatchReservations, GoesOnFromWhereItWasWhenTheServerIsBack) {
  Watched server;
  server.streams = {{{Event(Change::GRANTED, "r-1", 7)}, Away()},
                    {{}, Away()},
                    {{Event(Change::RELEASED, "r-1", 8)}, absl::OkStatus()}};
  EXPECT_EQ(server.Run({"reservations", "watch", "ds", "--from-revision", "5"}), 4);
  EXPECT_EQ(server.from, (std::vector<int64_t>{5, 7, 7, 8}));
  EXPECT_EQ(std::count(server.out.begin(), server.out.end(), '\n'), 2) << server.out;
}

TEST(WatchReservations, WhatIsLiveIsToldOnceThoughAWatchOfAllBeginsAnew) {
  Watched server;
  server.terminal = true;
  server.streams = {
      {{Event(Change::GRANTED, "r-1", 7), Event(Change::GRANTED, "r-2", 3)}, Away()},
      {{Event(Change::GRANTED, "r-1", 7), Event(Change::GRANTED, "r-2", 4)}, absl::OkStatus()}};
  EXPECT_EQ(server.Run({"reservations", "watch"}), 4);
  EXPECT_EQ(server.from, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(std::count(server.out.begin(), server.out.end(), '\n'), 3) << server.out;
  EXPECT_THAT(server.out, HasSubstr("r-1  ds  2026"));
}

TEST(WatchReservations, BeginsFromWhatIsLiveWhereTheRevisionIsTooOld) {
  Watched server;
  server.terminal = true;
  server.streams = {
      {{}, Refusal(absl::StatusCode::kOutOfRange, "kept from 900", "REVISION_TOO_OLD")}};
  EXPECT_EQ(server.Run({"reservations", "watch", "ds", "--from-revision", "5"}), 4);
  EXPECT_EQ(server.from, (std::vector<int64_t>{5, 0}));
  EXPECT_THAT(server.err, HasSubstr("no longer kept"));
}

TEST(WatchReservations, LastsAsLongAsItIsAskedTo) {
  Watched server;
  for (int i = 0; i < 1'000; ++i) server.streams.push_back({{}, absl::OkStatus()});
  EXPECT_EQ(server.Run({"reservations", "watch", "ds", "--timeout", "30s"}), 0);
  EXPECT_LT(server.from.size(), 100u);
}

}  // namespace
}  // namespace interlock::cli
