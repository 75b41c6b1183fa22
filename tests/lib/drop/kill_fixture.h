// Drops that come to their kill, for the tests of kills, of their ends and of restores.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/drop/counts.h"
#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {

inline constexpr char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
inline constexpr char kDay[] = "2026-07-16/2026-07-17";

class DropKillTest : public ::testing::Test {
 protected:
  Drop Marked(DropSite& site, const std::string& interval) {
    const Drop drop = site.Submitted(site.Request(interval));
    EXPECT_TRUE(site.RunTo(drop.id, State::kMarked, absl::Hours(1)));
    return site.Now(drop.id);
  }
  // One hour's segment, marked.
  Drop HourMarked(DropSite& site) {
    site.Load(13, 14, 1);
    return Marked(site, kHour13);
  }
  int64_t Orphans(DropSite& site) {
    int64_t count = -1;
    EXPECT_TRUE(site.store()
                    .Read([&](store::Transaction& tx) {
                      auto counts = CountOrphanSegments(tx);
                      if (counts.ok() && !counts->empty()) count = counts->front().count;
                      return counts.status();
                    })
                    .ok());
    return count;
  }
  static std::filesystem::path PathOf(const ManifestRow& row) {
    const size_t begin = row.load_spec.find(R"("path":")") + 8;
    return row.load_spec.substr(begin, row.load_spec.find('"', begin) - begin);
  }
  // As a store does that takes a delete and keeps the object.
  static void KeepFile(DropSite& site, const std::filesystem::path& path) {
    site.after_reply = [&site, path](const druid::HttpRequest&) {
      if (site.UnusedIds().empty() && !std::filesystem::exists(path)) {
        std::filesystem::create_directories(path);
      }
    };
  }
  // That many kill tasks are shown as running, and never end.
  static void Stick(DropSite& site, int times) {
    ASSERT_TRUE(
        site.druid()
            .AddFault(absl::StrCat(R"({"match":{"path":"/druid/indexer/v1/task","method":"POST"},)",
                                   R"("kind":"stuck_task","times":)", times, "}"))
            .ok());
  }
  // The answer to the next post of a task that holds `part` is lost.
  static void LosePost(DropSite& site, const std::string& part, DropSite::Fate fate) {
    site.fate = [&site, part, fate](const druid::HttpRequest& request) {
      if (request.method != "POST" || !absl::StrContains(request.body, part)) {
        return DropSite::Fate::kGood;
      }
      site.fate = nullptr;
      return fate;
    };
  }
  static void LoseKillPost(DropSite& site, DropSite::Fate fate) {
    LosePost(site, R"("type":"kill")", fate);
  }
  template <class Counts>
  static Counts Counted(DropSite& site, absl::StatusOr<Counts> (*count)(store::Transaction&)) {
    Counts counts;
    EXPECT_TRUE(site.store()
                    .Read([&](store::Transaction& tx) {
                      auto counted = count(tx);
                      if (counted.ok()) counts = *counted;
                      return counted.status();
                    })
                    .ok());
    return counts;
  }
  static std::vector<OpenKill> OpenKillSince(DropSite& site) {
    return Counted(site, OldestOpenKills);
  }
  static std::vector<KillFailureCount> Failures(DropSite& site) {
    return Counted(site, CountKillFailures);
  }
  std::vector<std::string> KillsSent(DropSite& site) {
    std::vector<std::string> kills;
    for (const std::string& body : site.Sent("/indexer/v1/task")) {
      if (absl::StrContains(body, R"("type":"kill")")) kills.push_back(body);
    }
    return kills;
  }
};

}  // namespace interlock::drop
