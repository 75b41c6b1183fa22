// One life of a drop, for the walks that spoil it somewhere: killed; killed after a task that
// waited and was shut down; given up half-way and the rest restored; given up before the first
// kill's post was answered; restored from the window; restored from just before the kill: every
// call that a drop makes is on one of these ways. P5 is checked after every step: nothing is
// killed that is not on the manifest, before its window has passed, or younger than the floor.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {

inline constexpr char kAsked[] = "2026-07-16T10:00Z/2026-07-16T14:00Z";

// One life of a drop, with everything written down that the promises speak of.
class Life {
 public:
  Life() {
    // On the manifest: hours 10 (two generations) and 13. Beside it: 9 and 14, and an old
    // generation of 13 that somebody had marked unused before.
    site_.Load(9, 11, 1);
    site_.Load(10, 11, 2);
    site_.Load(13, 15, 3);
    const std::string old = Only("T13");
    site_.Load(13, 14, 4);
    site_.Mark(old, false);
    site_.Pass(absl::Minutes(10));
    ForEach([&](const simulator::Segment& segment) {
      const bool listed = segment.used && Of(kAsked).Contains(segment.interval);
      if (listed) {
        manifest_.insert(segment.id);
      } else {
        others_[segment.id] = segment.used;
      }
    });
    EXPECT_EQ(manifest_.size(), 3u);
    site_.after_step = [this] { CheckPromises(); };
  }

  DropSite& site() { return site_; }
  const std::string& id() const { return id_; }
  size_t manifest_size() const { return manifest_.size(); }

  // As a client does that gets no answer: the same request again.
  void Submit() {
    for (int attempt = 0; attempt < 5 && id_.empty(); ++attempt) {
      try {
        const auto submitted = site_.drops().Submit(site_.Request(kAsked), site_.Ada("r1"));
        if (submitted.ok()) id_ = submitted->drop.id;
        if (!submitted.ok()) {
          EXPECT_EQ(ReasonOf(submitted.status()), "DRUID_UNAVAILABLE") << submitted.status();
        }
      } catch (const Crash&) {
        site_.Restart();
      }
    }
    ASSERT_NE(id_, "");
  }

  void Restore() {
    for (int attempt = 0; attempt < 5; ++attempt) {
      try {
        const auto restored = site_.drops().Restore(id_, site_.Ada("r2"));
        if (restored.ok()) return;
        EXPECT_EQ(ReasonOf(restored.status()), "DRUID_UNAVAILABLE") << restored.status();
      } catch (const Crash&) {
        site_.Restart();
      }
    }
    ADD_FAILURE() << "never restored";
  }

  // `kills`: tasks that it took.
  void ExpectKilled(size_t kills = 2) {
    const auto detail = site_.drops().GetDetail(id_);
    ASSERT_TRUE(detail.ok());
    EXPECT_EQ(detail->drop.state, State::kKilled) << detail->drop.hold << detail->drop.message;
    for (const ManifestRow& row : detail->manifest) {
      EXPECT_EQ(row.phase, Phase::kKilled) << row.id;
      EXPECT_FALSE(Orphaned(row)) << row.id;
    }
    for (const Note& note : detail->drop.notes) {
      EXPECT_EQ(note.reason.find("FOREIGN"), std::string::npos)
          << note.reason << ": our own calls are not somebody else's";
    }
    EXPECT_EQ(LeftOfManifest(), 0u);
    EXPECT_EQ(site_.FilesLeft(), static_cast<int>(others_.size()));
    ExpectOneTaskPerKill(*detail);
    EXPECT_EQ(detail->kills.size(), kills) << "no kill was needed twice";
    CheckPromises();
    EXPECT_EQ(detail->drop.reservation_id, "");
  }

  // The hour at 10 was killed, with both of its generations, and the one at 13 is back.
  void ExpectPartlyRestored() {
    const auto detail = site_.drops().GetDetail(id_);
    ASSERT_TRUE(detail.ok());
    EXPECT_EQ(detail->drop.state, State::kPartlyRestored)
        << detail->drop.hold << detail->drop.message;
    std::set<std::string> used;
    for (const std::string& id : site_.UsedIds()) used.insert(id);
    for (const ManifestRow& row : detail->manifest) {
      const bool killed = absl::StrContains(row.id, "clicks_2026-07-16T10");
      EXPECT_EQ(row.phase, killed ? Phase::kKilled : Phase::kRestored) << row.id;
      EXPECT_EQ(used.count(row.id), killed ? 0u : 1u) << row.id;
    }
    EXPECT_EQ(LeftOfManifest(), 1u);
    ExpectOneTaskPerKill(*detail);
    EXPECT_EQ(detail->kills.size(), 1u) << "no second piece's";
    CheckPromises();
    EXPECT_EQ(detail->drop.reservation_id, "");
  }

  void ExpectRestored() {
    const Drop drop = site_.Now(id_);
    EXPECT_EQ(drop.state, State::kRestored) << drop.hold << drop.message;
    EXPECT_TRUE(drop.hold.empty() || (drop.hold == kRowsNotProven && !drop.sums_before));
    std::set<std::string> used;
    for (const std::string& id : site_.UsedIds()) used.insert(id);
    for (const std::string& id : manifest_) EXPECT_EQ(used.count(id), 1u) << id;
    CheckPromises();
    EXPECT_EQ(drop.reservation_id, "");
  }

  size_t LeftOfManifest() {
    size_t left = 0;
    ForEach([&](const simulator::Segment& segment) { left += manifest_.count(segment.id); });
    return left;
  }

 private:
  void ForEach(const std::function<void(const simulator::Segment&)>& look) {
    site_.druid().WithWorld([&](simulator::World& world) {
      for (const auto* segment : world.segments.All(kClicks)) look(*segment);
    });
  }
  std::string Only(const std::string& hour) {
    std::string found;
    ForEach([&](const simulator::Segment& segment) {
      if (absl::StrContains(segment.id, absl::StrCat("clicks_2026-07-16", hour))) {
        found = segment.id;
      }
    });
    return found;
  }
  void CheckPromises() {
    std::map<std::string, bool> others;
    ForEach([&](const simulator::Segment& segment) {
      if (manifest_.count(segment.id) == 0) others[segment.id] = segment.used;
    });
    EXPECT_EQ(others, others_) << "what is not on the manifest is as it was";
    if (id_.empty()) return;
    const Drop drop = site_.Now(id_);
    if (LeftOfManifest() == manifest_.size()) return;
    ASSERT_TRUE(drop.marked.has_value());
    EXPECT_GE(site_.clock().Now(), drop.marked->store + absl::Hours(72)) << "before its window";
    EXPECT_GE(site_.clock().Now(), Of(kAsked).end() + absl::Hours(24 * 14)) << "under the floor";
  }

  // A kill that was stored is one task in Druid, or none where it was never needed.
  void ExpectOneTaskPerKill(const Drops::Detail& detail) {
    std::set<std::string> ids;
    for (const Kill& kill : detail.kills) {
      EXPECT_TRUE(ids.insert(kill.task_id).second);
      EXPECT_EQ(kill.post, Kill::Post::kEnded);
    }
    site_.druid().WithWorld([&](simulator::World& world) {
      for (const auto* task : world.tasks.tasks()) {
        if (task->type != "kill") continue;
        EXPECT_EQ(ids.count(task->id), 1u) << task->id;
      }
    });
  }

  // A kill that waits is shut down soon: fewer looks at it to spoil.
  static Options Hasty() {
    Options options;
    options.kill_deadline = absl::Seconds(20);
    return options;
  }

  DropSite site_{Hasty()};
  std::string id_;
  std::set<std::string> manifest_;
  std::map<std::string, bool> others_;  // id → used
};

inline void RunToEnd(Life& life) {
  life.site().RunUntil(life.id(), [](const Drop& drop) { return Ended(drop.state); });
}

inline void RunToKilled(Life& life) {
  RunToEnd(life);
  life.ExpectKilled();
}

inline void RunToRestored(Life& life) {
  DropSite& site = life.site();
  site.RunUntil(
      life.id(), [](const Drop& drop) { return drop.state == State::kMarked; }, absl::Hours(24));
  ASSERT_EQ(site.Now(life.id()).state, State::kMarked) << site.Now(life.id()).message;
  life.Restore();
  site.RunUntil(life.id(), [](const Drop& drop) { return Ended(drop.state); });
  life.ExpectRestored();
}

inline bool PostsAKill(const druid::HttpRequest& request) {
  return absl::StrContains(request.body, R"("type":"kill")");
}

// From the first kill on a stream has a lock over the time, so that the task waits for longer
// than it may; the lock goes when that task is over.
inline void RunToKilledAfterAShutdown(Life& life) {
  DropSite& site = life.site();
  bool locked = false, over = false;
  const auto earlier = site.before_send;
  site.before_send = [&, earlier](const druid::HttpRequest& request) {
    if (earlier) earlier(request);
    if (locked || !PostsAKill(request)) return;
    locked = true;
    site.druid().Ask("POST", "/simulator/locks",
                     R"({"group":"index_kafka_clicks","datasource":"clicks","type":"APPEND",)"
                     R"("interval":"2026-07-16T10:00:00.000Z/2026-07-16T11:00:00.000Z",)"
                     R"("priority":75})");
  };
  const auto check = site.after_step;
  site.after_step = [&, check] {
    check();
    const auto detail = site.drops().GetDetail(life.id());
    if (over || !detail.ok() || detail->kills.empty()) return;
    if (detail->kills.front().post != Kill::Post::kEnded) return;
    over = true;
    EXPECT_TRUE(detail->kills.front().shutdown_asked);
    site.druid().Ask("DELETE", "/simulator/locks/index_kafka_clicks");
  };
  RunToEnd(life);
  EXPECT_TRUE(over);
  site.after_step = check;
  site.before_send = earlier;
  life.ExpectKilled(3);
}

// Given up when the first piece is killed, and nobody has looked yet.
inline void RunToPartlyRestored(Life& life) {
  DropSite& site = life.site();
  const auto earlier = site.before_send;
  site.before_send = [&, earlier](const druid::HttpRequest& request) {
    if (earlier) earlier(request);
    const Drop drop = site.Now(life.id());
    if (drop.state != State::kKilling || drop.cancel || life.LeftOfManifest() > 1) return;
    EXPECT_TRUE(site.drops().Cancel(life.id(), site.Ada("c1", "wrong day")).ok());
  };
  RunToEnd(life);
  site.before_send = earlier;
  EXPECT_EQ(site.Now(life.id()).hold, kCancelledHalfWay) << site.Now(life.id()).message;
  life.Restore();
  RunToEnd(life);
  life.ExpectPartlyRestored();
}

// Given up while the first kill's post is under way, which then is lost: no kill ever begins.
inline void RunToRestoredAfterAnUnansweredPost(Life& life) {
  DropSite& site = life.site();
  const auto earlier = site.fate;
  int lost = 0;
  site.fate = [&, earlier](const druid::HttpRequest& request) {
    const DropSite::Fate fate = earlier ? earlier(request) : DropSite::Fate::kGood;
    if (!PostsAKill(request)) return fate;
    if (++lost == 1) {
      EXPECT_TRUE(site.drops().Cancel(life.id(), site.Ada("c1", "wrong day")).ok());
    }
    return DropSite::Fate::kTimesOutBefore;
  };
  RunToEnd(life);
  site.fate = earlier;
  EXPECT_EQ(lost, 1) << "none is sent after the cancel";
  EXPECT_EQ(site.Now(life.id()).state, State::kCancelled) << site.Now(life.id()).message;
  EXPECT_EQ(life.LeftOfManifest(), life.manifest_size());
  life.Restore();
  RunToEnd(life);
  life.ExpectRestored();
}

inline void RunToRestoredFromChecking(Life& life) {
  DropSite& site = life.site();
  site.RunUntil(life.id(), [](const Drop& drop) { return drop.state == State::kChecking; });
  ASSERT_EQ(site.Now(life.id()).state, State::kChecking) << site.Now(life.id()).message;
  life.Restore();
  RunToEnd(life);
  life.ExpectRestored();
}

}  // namespace interlock::drop
