// The whole life of a drop with exchange 1 with Druid spoiled, then 2, then 3 … until a run
// has no fault left; the same with the call timed out there, and with the process killed
// there. Lives: killed; killed after a task that waited and was shut down; given up half-way
// and the rest restored; restored from the window; restored from just before the kill: every
// call that a drop makes is on one of these ways. Each time P5 is checked after every step: nothing
// is killed that is not on the manifest, before its window has passed, or younger than the floor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

constexpr char kAsked[] = "2026-07-16T10:00Z/2026-07-16T14:00Z";

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

bool AnyFaultHit(DropSite& site) {
  for (const auto& request : site.druid().Requests()) {
    if (!request.fault.empty()) return true;
  }
  return false;
}

void RunToEnd(Life& life) {
  life.site().RunUntil(life.id(), [](const Drop& drop) { return Ended(drop.state); });
}

void RunToKilled(Life& life) {
  RunToEnd(life);
  life.ExpectKilled();
}

void RunToRestored(Life& life) {
  DropSite& site = life.site();
  site.RunUntil(
      life.id(), [](const Drop& drop) { return drop.state == State::kMarked; }, absl::Hours(24));
  ASSERT_EQ(site.Now(life.id()).state, State::kMarked) << site.Now(life.id()).message;
  life.Restore();
  site.RunUntil(life.id(), [](const Drop& drop) { return Ended(drop.state); });
  life.ExpectRestored();
}

bool PostsAKill(const druid::HttpRequest& request) {
  return absl::StrContains(request.body, R"("type":"kill")");
}

// From the first kill on a stream has a lock over the time, so that the task waits for longer
// than it may; the lock goes when that task is over.
void RunToKilledAfterAShutdown(Life& life) {
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
void RunToPartlyRestored(Life& life) {
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

void RunToRestoredFromChecking(Life& life) {
  DropSite& site = life.site();
  site.RunUntil(life.id(), [](const Drop& drop) { return drop.state == State::kChecking; });
  ASSERT_EQ(site.Now(life.id()).state, State::kChecking) << site.Now(life.id()).message;
  life.Restore();
  RunToEnd(life);
  life.ExpectRestored();
}

struct Walk {
  const char* name;
  const char* fault;  // members of a simulator's fault
};

// Its name in listings of tests: gtest would print its bytes.
void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }

class DropWalk : public ::testing::TestWithParam<Walk> {
 protected:
  // Spoils exchange n of `run`, for n from 1 until a run has none so late.
  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("exchange ", n, " with ", GetParam().name));
      Life life;
      const auto fault = life.site().druid().AddFault(
          absl::StrCat(R"({"match":{},"walk":)", n, ",", GetParam().fault, "}"));
      ASSERT_TRUE(fault.ok()) << fault.status();
      life.Submit();
      if (HasFatalFailure()) return;
      run(life);
      if (HasFailure()) return;
      if (!AnyFaultHit(life.site())) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

TEST_P(DropWalk, ADropIsKilledAndNothingElse) { ForEachExchange(RunToKilled); }

TEST_P(DropWalk, ADropIsRestored) { ForEachExchange(RunToRestored); }

INSTANTIATE_TEST_SUITE_P(
    Faults, DropWalk,
    ::testing::Values(Walk{"LostBefore", R"("kind":"lost_before")"},
                      Walk{"LostAfter", R"("kind":"lost_after")"},
                      Walk{"LateEffect", R"("kind":"late","delay_ms":20000)"},
                      Walk{"Status503", R"("kind":"status","status":503)"},
                      Walk{"Status500WithEffect", R"("kind":"status","status":500,"effect":true)"},
                      Walk{"Status502", R"("kind":"status","status":502)"},
                      Walk{"Garbage", R"("kind":"garbage")"},
                      Walk{"LostThreeTimes", R"("kind":"lost_after","times":3)"}),
    [](const auto& info) { return std::string(info.param.name); });

// What is longer, with the faults that the calls beside those of the lives above could mind.
class DropLives : public DropWalk {};

TEST_P(DropLives, ADropIsKilledAfterATaskThatWaitedTooLong) {
  ForEachExchange(RunToKilledAfterAShutdown);
}

TEST_P(DropLives, ADropThatIsGivenUpHalfWayIsPartlyRestored) {
  ForEachExchange(RunToPartlyRestored);
}

TEST_P(DropLives, ADropIsRestoredJustBeforeItsKill) { ForEachExchange(RunToRestoredFromChecking); }

INSTANTIATE_TEST_SUITE_P(Faults, DropLives,
                         ::testing::Values(Walk{"LostAfter", R"("kind":"lost_after")"},
                                           Walk{"Status500WithEffect",
                                                R"("kind":"status","status":500,"effect":true)"}),
                         [](const auto& info) { return std::string(info.param.name); });

// The process is killed at exchange n: before it is sent, or after its effect.
class DropCrash : public ::testing::TestWithParam<bool> {
 protected:
  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("killed ", GetParam() ? "after" : "before", " exchange ", n));
      Life life;
      int exchange = 0;
      const auto crash = [&](const druid::HttpRequest&) {
        if (++exchange == n) throw Crash();
      };
      (GetParam() ? life.site().after_reply : life.site().before_send) = crash;
      life.Submit();
      if (HasFatalFailure()) return;
      run(life);
      if (HasFailure()) return;
      if (exchange < n) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

TEST_P(DropCrash, ADropIsKilledAndNothingElse) { ForEachExchange(RunToKilled); }

TEST_P(DropCrash, ADropIsRestored) { ForEachExchange(RunToRestored); }

TEST_P(DropCrash, ADropIsKilledAfterATaskThatWaitedTooLong) {
  ForEachExchange(RunToKilledAfterAShutdown);
}

TEST_P(DropCrash, ADropThatIsGivenUpHalfWayIsPartlyRestored) {
  ForEachExchange(RunToPartlyRestored);
}

TEST_P(DropCrash, ADropIsRestoredJustBeforeItsKill) { ForEachExchange(RunToRestoredFromChecking); }

INSTANTIATE_TEST_SUITE_P(Moments, DropCrash, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "AfterTheEffect" : "BeforeTheCall");
});

// Exchange n is not answered within its deadline: it was never sent, or its effect is there.
class DropTimeout : public ::testing::TestWithParam<DropSite::Fate> {
 protected:
  void ForEachExchange(void (*run)(Life&)) {
    for (int n = 1; n < 500; ++n) {
      SCOPED_TRACE(absl::StrCat("exchange ", n, " times out"));
      Life life;
      int exchange = 0;
      life.site().fate = [&](const druid::HttpRequest&) {
        return ++exchange == n ? GetParam() : DropSite::Fate::kGood;
      };
      life.Submit();
      if (HasFatalFailure()) return;
      run(life);
      if (HasFailure()) return;
      if (exchange < n) {
        EXPECT_GT(n, 20) << "the walk ended before it began";
        return;
      }
    }
    ADD_FAILURE() << "the walk never ends";
  }
};

TEST_P(DropTimeout, ADropIsKilledAndNothingElse) { ForEachExchange(RunToKilled); }

TEST_P(DropTimeout, ADropIsRestored) { ForEachExchange(RunToRestored); }

TEST_P(DropTimeout, ADropIsKilledAfterATaskThatWaitedTooLong) {
  ForEachExchange(RunToKilledAfterAShutdown);
}

TEST_P(DropTimeout, ADropThatIsGivenUpHalfWayIsPartlyRestored) {
  ForEachExchange(RunToPartlyRestored);
}

TEST_P(DropTimeout, ADropIsRestoredJustBeforeItsKill) {
  ForEachExchange(RunToRestoredFromChecking);
}

INSTANTIATE_TEST_SUITE_P(Moments, DropTimeout,
                         ::testing::Values(DropSite::Fate::kTimesOutBefore,
                                           DropSite::Fate::kTimesOutAfter),
                         [](const auto& info) {
                           const bool after = info.param == DropSite::Fate::kTimesOutAfter;
                           return std::string(after ? "AfterTheEffect" : "BeforeTheCall");
                         });

}  // namespace
}  // namespace interlock::drop
