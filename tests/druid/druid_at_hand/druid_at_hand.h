// The Druid that the environment names, for conformance tests: Interlock's own adapter in
// front of it, its raw replies, and a datasource of the test's own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/cluster.h"
#include "lib/druid/curl_transport.h"
#include "lib/time/interval.h"

namespace interlock::druid {

class DruidAtHand : public testing::Test {
 public:
  void SetUp() override;

  Cluster& cluster() { return *cluster_; }
  // What this Druid can do, by asking.
  const Capabilities& can() const { return capabilities_; }
  // "33" of 33.0.0, from the environment; 0 where it is not said.
  int major() const { return major_; }
  bool simulated() const { return simulated_; }

  // A name that no other test and no other run has.
  const std::string& datasource() const { return datasource_; }
  std::string TaskId(const std::string& what) const { return datasource_ + "-" + what; }

  // --- The raw side -----------------------------------------------------------------
  std::string Overlord(const std::string& path) const;     // below /druid/indexer/v1
  std::string Coordinator(const std::string& path) const;  // below /druid/coordinator/v1
  std::string Simulator(const std::string& path) const;    // below /simulator
  HttpReply Raw(const std::string& method, const std::string& url, const std::string& body = "",
                const std::string& accept = "application/json");

  // --- Doing things -----------------------------------------------------------------
  // Submits, and waits until it has ended.
  TaskStatus Run(const std::string& task_json);
  // Submits it, and it was taken. A reply that says nothing (a database that gave up on a
  // lock, where many tests share one) is settled as the product does it: by posting the
  // same id again.
  void Submit(const std::string& task_json);
  TaskStatus WaitForEnd(const std::string& id);
  // Until `holds`, or the test fails with `what`.
  void WaitUntil(const std::string& what, const std::function<bool()>& holds);
  // Until queries see it: nothing of the interval is left to load.
  void WaitForLoad(const Interval& interval);

  // --- Looking ----------------------------------------------------------------------
  std::vector<Segment> Used(const Interval& interval);
  // The same after a refresh, without which 37 shows what is marked used only later.
  std::vector<Segment> UsedNow(const Interval& interval);
  std::vector<UnusedSegment> Unused(const Interval& interval);
  // "version/partition" …, of what queries see.
  std::vector<std::string> VisibleVersions(const Interval& interval);
  // Rows that queries count, as the metric "count" sums them up.
  int64_t Rows(const Interval& interval);
  void ExpectRows(const Interval& interval, int64_t rows);

 private:
  std::unique_ptr<Cluster> cluster_;
  std::shared_ptr<CurlTransport> transport_;
  Capabilities capabilities_;
  std::string overlord_;
  std::string coordinator_;
  std::string datasource_;
  int major_ = 0;
  bool simulated_ = false;
};

// 2026-07-16T`hour`:00/`hour`+1:00.
Interval Hour(int hour);
Interval Hours(int first, int end);

// One row of input: at minute 5 of an hour, with a page and a number.
struct Event {
  int hour = 13;
  std::string page;
  int n = 1;
};

struct BatchTask {
  std::string id;
  std::string datasource;
  Interval interval = Hour(13);
  std::vector<Event> events;
  bool append = false;
  bool drop = true;          // dropExisting
  std::string input_source;  // JSON; "" for the events, inline
  std::string partitions;    // JSON of a partitionsSpec; "" for dynamic
  std::string context = "{}";
  bool with_intervals = true;

  // index_parallel: hours, roll-up to the minute, dimension page, metrics count and n.
  std::string Json() const;
};

std::string EventLines(const std::vector<Event>& events);

std::string NoopTask(const std::string& id, int run_ms, const std::string& context = "{}");

}  // namespace interlock::druid
