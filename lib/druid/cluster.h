// One Druid cluster: what Interlock asks of it and does to it. Every function is one
// exchange (redirects apart) and blocks until its answer or deadline; every answer is
// classified (answer.h). Reads are repeated, with jitter, where that is safe; calls
// that change something are sent once.
//
// Threads: any; the transport pools connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/druid/answer.h"
#include "lib/druid/cluster_options.h"
#include "lib/druid/id_list_reader.h"
#include "lib/druid/segment.h"
#include "lib/druid/sql.h"
#include "lib/druid/supervisor.h"
#include "lib/druid/task.h"
#include "lib/druid/timeline.h"
#include "lib/druid/transport.h"
#include "lib/time/interval.h"

namespace interlock::druid {

// How a mark call ended, where Druid says it: the number is what Druid counted, which
// is matched segments in versions up to 28 and changed ones later. Read back to know.
struct Marked {
  int64_t changed = 0;
};

// loadstatus?simple of an interval.
struct LoadStatus {
  bool any_used = false;             // false: no used segment there (204, or the 200 text)
  int64_t unavailable_segments = 0;  // used, visible, not loaded yet
};

// What decides about the coordinator's own kill duty (druid.coordinator.kill.*).
struct CoordinatorSettings {
  std::map<std::string, std::string> properties;  // of the process, as /status/properties has them
  // Datasources that the duty is limited to, from the dynamic configuration; empty: all.
  std::vector<std::string> kill_whitelist;
};

// Of a datasource that Druid compacts by itself.
struct CompactionConfig {
  std::string skip_offset_from_latest;  // a period; "" where it is not told
};

class Cluster {
 public:
  Cluster(const ClusterOptions& options, std::shared_ptr<HttpTransport> transport);
  ~Cluster();

  // --- Overlord -------------------------------------------------------------------
  // Posts a task whose JSON carries its pinned id. kAlreadyExists says only that the id
  // is taken: compare the nonce in TaskPayload. After kUnknown, post the same id again.
  Answer<std::string> SubmitTask(const std::string& task_json);
  Answer<TaskStatus> GetTaskStatus(const std::string& id);
  // One request for many; ids that Druid does not know are absent from the map.
  Answer<std::map<std::string, TaskStatus>> GetTaskStatuses(const std::vector<std::string>& ids);
  // The stored payload's context, as JSON text, and what else identifies the task.
  Answer<TaskPayload> GetTaskPayload(const std::string& id);
  Answer<TaskReport> GetTaskReport(const std::string& id);
  // What a query would do as a task, by EXPLAIN PLAN. kUnsupported where no query runs as a
  // task here; kInvalid, with Druid's words, for a query that it refuses.
  Answer<SqlExplanation> ExplainSql(const std::string& query, const std::string& context_json);
  // Runs a query as the task `query-<query_id>`; the body's context carries that id as
  // sqlQueryId. As SubmitTask.
  Answer<std::string> SubmitSql(const std::string& query_id, const std::string& body);
  // "Asked", not "gone": poll until the status is terminal.
  Answer<Nothing> ShutdownTask(const std::string& id);
  // Running, pending and waiting tasks of a datasource, sub-tasks included (group_id).
  Answer<std::vector<TaskStatus>> ListLiveTasks(const std::string& datasource);
  // Unrevoked locks of any priority that overlap the intervals; all where none is given.
  Answer<std::vector<TaskLock>> ListLocks(const std::string& datasource,
                                          const std::vector<Interval>& intervals);

  // Datasources that supervisors write, suspended ones included.
  Answer<std::vector<std::string>> ListStreamedDatasources();

  // --- Overlord: supervisors ----------------------------------------------------------
  // All of them with their specs, those that read no stream included. [] is a fact.
  Answer<std::vector<Supervisor>> ListSupervisors();
  Answer<SupervisorHealth> GetSupervisorHealth(const std::string& id);
  // By task, for those that live.
  Answer<std::map<std::string, StreamCounts>> GetSupervisorCounts(const std::string& id);
  // "Asked": its tasks publish, hand off and end after that. Refused (kInvalid) where it is
  // as asked already: read back (ListSupervisors) which it is.
  Answer<Nothing> SuspendSupervisor(const std::string& id);
  Answer<Nothing> ResumeSupervisor(const std::string& id);
  // Live tasks that read streams, of all datasources, whoever made them.
  Answer<std::vector<TaskStatus>> ListStreamTasks();

  // --- Coordinator: metadata --------------------------------------------------------
  // Used segments that overlap the intervals, overshadowed ones included (POST
  // …/metadata/datasources/DS/segments?full). [] is a fact. Up to 36 this reads the
  // metadata store; 37 reads a cache that knows at once what tasks publish and what is
  // marked unused, but what is marked used only after the next poll (a minute by
  // default), or after GetLoadStatus(refresh).
  Answer<std::vector<Segment>> ListUsedSegments(const std::string& datasource,
                                                const std::vector<Interval>& intervals);
  // The same without keeping them, for lists of any size: `sink` may move from each, and
  // runs in this thread. `start` is called before each attempt: what an earlier one gave
  // counts no more. The value is how many there were.
  Answer<int64_t> ReadUsedSegments(const std::string& datasource,
                                   const std::vector<Interval>& intervals,
                                   const std::function<void()>& start,
                                   const std::function<void(Segment& segment)>& sink);
  // The intervals of all used segments, overshadowed ones included, with how many there are
  // and a digest of their ids: what a walk over a datasource is planned by. From the
  // snapshot that the coordinator polls (a minute old by default), so no load on the
  // metadata store. Of a datasource without used segments Druid 33 answers 404 without a body,
  // which could be any path that is not there: ask ListDatasources first.
  Answer<IntervalContents> ListUsedIntervals(const std::string& datasource);
  // Unused ones (29+; kUnsupported before), all pages.
  Answer<std::vector<UnusedSegment>> ListUnusedSegments(const std::string& datasource,
                                                        const Interval& interval);
  Answer<LoadStatus> GetLoadStatus(const std::string& datasource, const Interval& interval,
                                   bool refresh);
  // JSON text of the rules that apply, defaults last.
  Answer<std::string> GetRules(const std::string& datasource);
  Answer<std::vector<std::string>> ListDatasources();
  // Those with unused segments alone, too; what was killed altogether is in neither list.
  Answer<std::vector<std::string>> ListDatasourcesEver();
  Answer<CoordinatorSettings> GetCoordinatorSettings();
  // Nothing where the datasource is not compacted by the coordinator or the overlord.
  Answer<std::optional<CompactionConfig>> GetCompactionConfig(const std::string& datasource);

  // --- Marks, by id only: `versions` in a body is ignored up to 28 -------------------
  Answer<Marked> MarkUnused(const std::string& datasource, const std::vector<std::string>& ids);
  Answer<Marked> MarkUsed(const std::string& datasource, const std::vector<std::string>& ids);
  // On a Druid up to 31, kInvalid where nothing of the datasource is served: it then
  // answers 204 and does nothing.
  // Revives one id even where a newer version hides it (markUsed does not).
  Answer<Marked> ReviveSegment(const std::string& datasource, const std::string& id);

  // --- Broker -----------------------------------------------------------------------
  // Sums of `metrics` (doubleSum over the stored columns: exact for whole numbers below
  // 2^53) and COUNT(*) per interval, uncached, through the native timeseries API; one
  // query an interval. What no historical serves is not counted: see GetLoadStatus.
  Answer<std::vector<RowSums>> SumRows(const std::string& datasource,
                                       const std::vector<Interval>& intervals,
                                       const std::vector<std::string>& metrics);

  // The same of single segments, one query each: what tells two copies apart from two
  // halves. Their intervals are not cut.
  Answer<std::vector<RowSums>> SumSegments(const std::string& datasource,
                                           const std::vector<Segment>& segments,
                                           const std::vector<std::string>& metrics);
  // The same of what the metadata store lists as visible, in one query: without what a
  // stream's tasks serve and have not published. Slices of one timeline.
  Answer<RowSums> SumPublished(const std::string& datasource, const std::vector<Slice>& slices,
                               const std::vector<std::string>& metrics);
  // The columns of what is served of an interval: a sum over one that is not there is 0, and
  // not an error. None where nothing is served.
  Answer<Columns> ListColumns(const std::string& datasource, const Interval& interval);
  // Rows of a SELECT, uncached, in the order of its columns; kGarbled beyond `most`.
  Answer<std::vector<SqlRow>> QuerySql(const std::string& query, int64_t most);

  // --- What this cluster offers ------------------------------------------------------
  // Asked once, and again after a service was away: it may have come back as an older
  // version, on which a bounded kill would be an unbounded one.
  Answer<Capabilities> GetCapabilities();
  // Each service's /status/health and isLeader, for doctor and druid_up.
  std::vector<ServiceHealth> CheckServices();

 private:
  class Impl;

  Answer<Marked> Mark(const std::string& endpoint, const std::string& datasource,
                      const std::string& rest, const std::string& body);

  std::unique_ptr<Impl> impl_;
};

}  // namespace interlock::druid
