// A site whose datasource has a stream: a simulated supervisor with its task, and a topic.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "lib/backfill/handover_rows.h"
#include "lib/guard/findings.h"
#include "lib/guard/rows.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {

inline constexpr char kLateTwoHours[] = ",\"lateMessageRejectionPeriod\":\"PT2H\"";

class StreamSite : public BackfillSite {
 public:
  // `io`: more of the supervisor's ioConfig.
  explicit StreamSite(const std::string& io = "", Options options = SiteOptions(),
                      bool supervisor_ids = false)
      : BackfillSite(std::move(options), supervisor_ids) {
    Ask("POST", "/druid/indexer/v1/supervisor", Spec(io));
    Pass(absl::Seconds(2));
    WatchStreams();
    StepOnce();
  }

  static std::string Spec(const std::string& io) {
    return absl::StrCat(
        R"({"type":"kafka","spec":{"dataSchema":{"dataSource":"clicks",)",
        R"("timestampSpec":{"column":"ts","format":"iso"},"dimensionsSpec":{"dimensions":["page"]},)",
        R"("metricsSpec":[{"type":"count","name":"events"},{"type":"longSum","name":"n",)",
        R"("fieldName":"n"}],"granularitySpec":{"type":"uniform","segmentGranularity":"HOUR",)",
        R"("queryGranularity":"MINUTE","rollup":true}},"ioConfig":{"topic":"t",)",
        R"("inputFormat":{"type":"json"},"taskDuration":"PT10M")", io, "}}}");
  }
  // What the stream has read, and nothing else: every hour of [from, to) again.
  static std::string Reindex(int from, int to) {
    const std::string interval =
        absl::StrCat(Hour(from).start().ToString(), "/", Hour(to - 1).end().ToString());
    return absl::StrCat(
        R"({"type":"index_parallel","spec":{"dataSchema":{"dataSource":"clicks",)",
        R"("timestampSpec":{"column":"__time","format":"millis"},"dimensionsSpec":{"dimensions":)",
        R"(["page"]},"metricsSpec":[{"type":"longSum","name":"events","fieldName":"events"},)",
        R"({"type":"longSum","name":"n","fieldName":"n"}],"granularitySpec":{)",
        R"("segmentGranularity":"HOUR","queryGranularity":"HOUR","intervals":[")", interval,
        R"("]}},"ioConfig":{"type":"index_parallel","inputSource":{"type":"druid","dataSource":)",
        R"("clicks","interval":")", interval, R"("},"dropExisting":true}}})");
  }

  std::string Ask(const std::string& method, const std::string& target,
                  const std::string& body = "") {
    const simulator::Reply reply = simulator().Ask(method, target, body);
    EXPECT_EQ(reply.status / 100, 2) << target << ": " << reply.body;
    return reply.body;
  }
  void Produce(int hour, int count, const std::string& topic = "t") {
    std::vector<std::string> rows;
    for (int i = 0; i < count; ++i) {
      rows.push_back(
          absl::StrCat("\"", absl::StrReplaceAll(Line(hour, i % 60, i), {{"\"", "\\\""}}), "\""));
    }
    Ask("POST", "/simulator/topics",
        absl::StrCat(R"({"topic":")", topic, R"(","rows":[)", absl::StrJoin(rows, ","), "]}"));
  }
  void Suspend(const std::string& id = "clicks") {
    Ask("POST", absl::StrCat("/druid/indexer/v1/supervisor/", id, "/suspend"));
  }
  void Resume(const std::string& id = "clicks") {
    Ask("POST", absl::StrCat("/druid/indexer/v1/supervisor/", id, "/resume"));
  }
  bool Suspended(const std::string& id = "clicks") {
    return absl::StrContains(Ask("GET", absl::StrCat("/druid/indexer/v1/supervisor/", id)),
                             "\"suspended\":true");
  }
  bool TaskLives() {
    return absl::StrContains(Ask("GET", "/druid/indexer/v1/tasks?state=running"), "index_kafka");
  }

  // Steps and lets time pass until `there`; false when that is not within `longest`.
  bool RunUntil(const std::function<bool()>& there, absl::Duration longest = absl::Minutes(20)) {
    for (const Instant end = clock().Now() + longest; clock().Now() < end;) {
      while (StepOnce()) {
      }
      if (there()) return true;
      Pass(absl::Milliseconds(100));
    }
    return false;
  }
  // As RunUntil, while the process dies once: before exchange `death` with Druid from now on.
  // `*died` says whether there were so many.
  bool RunThroughDeath(int64_t death, const std::function<bool()>& there, bool* died) {
    struct Death {};
    const int64_t start = transport().exchanges();
    transport().Before([&](const druid::HttpRequest&) {
      if (*died || transport().exchanges() - start != death) return;
      *died = true;
      throw Death{};
    });
    bool done = false;
    try {
      done = RunUntil(there);
    } catch (const Death&) {
      Restart();
      done = RunUntil(there);
    }
    transport().Before(nullptr);
    return done;
  }
  Handover HandoverOf(const std::string& id) {
    const auto detail = backfills().Get(id);
    EXPECT_TRUE(detail.ok()) << detail.status();
    return detail.ok() && detail->handover ? *detail->handover : Handover();
  }
  bool StreamIsBack(const std::string& id) {
    return HandoverOf(id).state == HandoverState::kOver && TaskLives();
  }
  absl::StatusOr<Backfills::Submitted> TrySubmit(const std::string& spec, const TailTerms& tails) {
    BackfillRequest request;
    request.spec = spec;
    request.tails = tails;
    return backfills().Submit(request, Caller());
  }
  std::string SubmitHandover(const std::string& spec,
                             absl::Duration max_pause = absl::Minutes(10)) {
    const auto submitted = TrySubmit(spec, {TailPolicy::kHandover, max_pause, false, false});
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return submitted.ok() ? submitted->backfill.id : "";
  }
  // Open findings of the guard, by reason.
  std::vector<guard::Finding> Findings(const std::string& reason) {
    std::vector<guard::Finding> found;
    const absl::Status status = store().Read([&](store::Transaction& tx) {
      auto all = guard::ListFindings(tx, "", true, 100);
      found.clear();
      if (!all.ok()) return all.status();
      for (auto& one : *all) {
        if (one.reason == reason) found.push_back(std::move(one));
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return found;
  }
};

}  // namespace interlock::backfill
