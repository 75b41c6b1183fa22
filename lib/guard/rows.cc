#include "lib/guard/rows.h"

#include <utility>

#include "lib/guard/text_list.h"

namespace interlock::guard {
namespace {

#define STREAM_COLUMNS                                                                          \
  "datasource, stream, kind, supervisor_id, is_declared, tail_ms, reported_ms, late_period_ms," \
  " late_start_ms, skip_ms, has_spec, accept_unbounded, registered_by, reason, request_id,"     \
  " created_ms, in_druid, missing_ms, spec_digest, topic, concurrent_locks, suspended_for,"     \
  " source, bound_ms, offset_ms, enforced, any_tail, observed_ms, stale, health_ms, state,"     \
  " suspended, healthy, lag, thrown_away, unparseable, task_ids, errors"
#define SELECT_STREAM "SELECT " STREAM_COLUMNS " FROM guard_stream "

// Walks a row's columns in their order.
class Columns {
 public:
  explicit Columns(const store::Row& row) : row_(row) {}
  std::string Text() { return row_.Text(next_++); }
  bool Flag() { return row_.Flag(next_++); }
  int64_t Int() { return row_.Int(next_++); }
  Instant At() { return row_.At(next_++); }
  std::optional<Instant> MaybeAt() { return row_.MaybeAt(next_++); }
  std::optional<int64_t> MaybeInt() {
    const size_t at = next_++;
    return row_.IsNull(at) ? std::nullopt : std::optional<int64_t>(row_.Int(at));
  }
  std::optional<absl::Duration> MaybeLength() {
    const auto millis = MaybeInt();
    return millis ? std::optional<absl::Duration>(absl::Milliseconds(*millis)) : std::nullopt;
  }

 private:
  const store::Row& row_;
  size_t next_ = 0;
};

store::Value Millis(const std::optional<absl::Duration>& length) {
  return length ? store::Value(absl::ToInt64Milliseconds(*length)) : store::Value();
}

void ReadDeclared(Columns& in, Stream* stream) {
  stream->is_declared = in.Flag();
  stream->declared.tail = in.MaybeLength();
  stream->declared.reported_start = in.MaybeAt();
  stream->declared.bounds.late_period = in.MaybeLength();
  stream->declared.bounds.late_start = in.MaybeAt();
  stream->declared.skip_offset = in.MaybeLength();
  stream->declared.has_spec = in.Flag();
  stream->accept_unbounded = in.Flag();
  stream->registered_by = in.Text();
  stream->reason = in.Text();
  stream->request_id = in.Text();
  stream->created = in.At();
}

void ReadHealth(Columns& in, Stream* stream) {
  const std::optional<Instant> observed = in.MaybeAt();
  Health health;
  health.state = in.Text();
  health.suspended = in.Flag();
  health.healthy = in.Flag();
  health.lag = in.MaybeInt();
  health.thrown_away = in.Int();
  health.unparseable = in.Int();
  health.task_ids = UnpackTexts(in.Text());
  health.recent_errors = UnpackTexts(in.Text());
  if (!observed) return;
  health.observed = *observed;
  stream->health = std::move(health);
}

Stream ReadStream(const store::Row& row) {
  Columns in(row);
  Stream stream;
  stream.datasource = in.Text();
  stream.name = in.Text();
  stream.kind = KindOf(in.Text());
  stream.supervisor_id = in.Text();
  ReadDeclared(in, &stream);
  stream.in_druid = in.Flag();
  stream.missing_since = in.MaybeAt();
  stream.spec_digest = in.Text();
  stream.topic = in.Text();
  stream.concurrent_locks = in.Flag();
  stream.suspended_for = in.Text();
  stream.tail.source = TailSourceOf(in.Text());
  stream.tail.bound.fixed = in.MaybeAt();
  stream.tail.bound.length = in.MaybeLength();
  stream.tail.enforced = in.Flag();
  stream.tail.any = in.Flag();
  stream.observed = in.At();
  stream.stale = in.Flag();
  ReadHealth(in, &stream);
  return stream;
}

absl::StatusOr<std::vector<Stream>> ReadStreams(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  std::vector<Stream> streams;
  for (const store::Row& row : *rows) streams.push_back(ReadStream(row));
  return streams;
}

std::string Text(absl::string_view view) { return {view.data(), view.size()}; }

TaskRow ReadTask(const store::Row& row) {
  Columns in(row);
  TaskRow task;
  task.id = in.Text();
  task.datasource = in.Text();
  task.stream = in.Text();
  task.counts.processed = in.Int();
  task.counts.thrown_away = in.Int();
  task.counts.unparseable = in.Int();
  task.first_seen = in.At();
  task.ended = in.MaybeAt();
  task.failed = in.Flag();
  return task;
}

}  // namespace

absl::string_view NameOf(Kind kind) { return kind == Kind::kSupervisor ? "SUPERVISOR" : "OUTSIDE"; }
Kind KindOf(absl::string_view name) {
  return name == "SUPERVISOR" ? Kind::kSupervisor : Kind::kOutside;
}

absl::StatusOr<std::optional<Stream>> FindStream(store::Transaction& tx,
                                                 const std::string& datasource,
                                                 const std::string& name) {
  auto streams = ReadStreams(tx.Query(
      SELECT_STREAM "WHERE datasource = :datasource AND stream = :stream", {datasource, name}));
  if (!streams.ok()) return streams.status();
  if (streams->empty()) return std::optional<Stream>();
  return std::optional<Stream>(std::move(streams->front()));
}

absl::StatusOr<std::vector<Stream>> StreamsOf(store::Transaction& tx,
                                              const std::string& datasource) {
  if (datasource.empty()) {
    return ReadStreams(tx.Query(SELECT_STREAM "ORDER BY datasource, stream", {}));
  }
  return ReadStreams(
      tx.Query(SELECT_STREAM "WHERE datasource = :datasource ORDER BY stream", {datasource}));
}

absl::StatusOr<std::vector<Stream>> StreamsAfter(store::Transaction& tx,
                                                 const std::string& datasource,
                                                 const StreamKey& after, int64_t most) {
  if (!datasource.empty()) {
    return ReadStreams(tx.Query(SELECT_STREAM "WHERE datasource = :datasource AND stream > :after"
                                              " ORDER BY stream LIMIT :most",
                                {datasource, after.name, most}));
  }
  return ReadStreams(tx.Query(SELECT_STREAM
                              "WHERE datasource > :after OR (datasource = :same AND"
                              " stream > :stream) ORDER BY datasource, stream LIMIT :most",
                              {after.datasource, after.datasource, after.name, most}));
}

absl::Status DeleteStream(store::Transaction& tx, const std::string& datasource,
                          const std::string& name) {
  return tx
      .Execute("DELETE FROM guard_stream WHERE datasource = :datasource AND stream = :stream",
               {datasource, name})
      .status();
}

absl::Status PutStream(store::Transaction& tx, const Stream& stream) {
  absl::Status status = DeleteStream(tx, stream.datasource, stream.name);
  if (!status.ok()) return status;
  const Health health = stream.health.value_or(Health());
  const std::optional<Instant> health_at =
      stream.health ? std::optional<Instant>(health.observed) : std::nullopt;
  return tx
      .Execute("INSERT INTO guard_stream (" STREAM_COLUMNS
               ") VALUES (:datasource, :stream, :kind, :supervisor, :declared, :tail, :reported,"
               " :late_period, :late_start, :skip, :has_spec, :accept, :by, :reason, :request,"
               " :created, :in_druid, :missing, :digest, :topic, :concurrent, :suspended_for,"
               " :source, :bound, :offset, :enforced, :any, :observed, :stale, :health, :state,"
               " :suspended, :healthy, :lag, :thrown, :unparseable, :tasks, :errors)",
               {stream.datasource,
                stream.name,
                Text(NameOf(stream.kind)),
                stream.supervisor_id,
                stream.is_declared,
                Millis(stream.declared.tail),
                stream.declared.reported_start,
                Millis(stream.declared.bounds.late_period),
                stream.declared.bounds.late_start,
                Millis(stream.declared.skip_offset),
                stream.declared.has_spec,
                stream.accept_unbounded,
                stream.registered_by,
                stream.reason,
                stream.request_id,
                stream.created,
                stream.in_druid,
                stream.missing_since,
                stream.spec_digest,
                stream.topic,
                stream.concurrent_locks,
                stream.suspended_for,
                Text(NameOf(stream.tail.source)),
                stream.tail.bound.fixed,
                Millis(stream.tail.bound.length),
                stream.tail.enforced,
                stream.tail.any,
                stream.observed,
                stream.stale,
                health_at,
                health.state,
                health.suspended,
                health.healthy,
                health.lag ? store::Value(*health.lag) : store::Value(),
                health.thrown_away,
                health.unparseable,
                PackTexts(health.task_ids),
                PackTexts(health.recent_errors)})
      .status();
}

absl::StatusOr<std::vector<TaskRow>> LiveTaskRows(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT task_id, datasource, stream, processed, thrown_away, unparseable, first_ms,"
      " ended_ms, failed FROM guard_task WHERE ended_ms IS NULL",
      {});
  if (!rows.ok()) return rows.status();
  std::vector<TaskRow> tasks;
  for (const store::Row& row : *rows) tasks.push_back(ReadTask(row));
  return tasks;
}

absl::Status PutTaskRow(store::Transaction& tx, const TaskRow& row) {
  return tx
      .Execute(
          "INSERT INTO guard_task (task_id, datasource, stream, processed, thrown_away,"
          " unparseable, first_ms, ended_ms, failed) VALUES (:id, :datasource, :stream,"
          " :processed, :thrown, :unparseable, :first, :ended, :failed)"
          " ON CONFLICT (task_id) DO UPDATE SET processed = excluded.processed,"
          " thrown_away = excluded.thrown_away, unparseable = excluded.unparseable,"
          " ended_ms = excluded.ended_ms, failed = excluded.failed",
          {row.id, row.datasource, row.stream, row.counts.processed, row.counts.thrown_away,
           row.counts.unparseable, row.first_seen, row.ended, row.failed})
      .status();
}

absl::StatusOr<druid::StreamCounts> SumCounts(store::Transaction& tx, const std::string& datasource,
                                              const std::string& stream) {
  auto rows = tx.Query(
      "SELECT COALESCE(SUM(processed), 0), COALESCE(SUM(thrown_away), 0),"
      " COALESCE(SUM(unparseable), 0) FROM guard_task"
      " WHERE datasource = :datasource AND stream = :stream",
      {datasource, stream});
  if (!rows.ok()) return rows.status();
  druid::StreamCounts counts;
  counts.processed = rows->front().Int(0);
  counts.thrown_away = rows->front().Int(1);
  counts.unparseable = rows->front().Int(2);
  return counts;
}

absl::StatusOr<bool> AnyTaskFailedSince(store::Transaction& tx, const std::string& datasource,
                                        Instant since) {
  auto rows = tx.Query(
      "SELECT task_id FROM guard_task WHERE datasource = :datasource AND failed = 1"
      " AND ended_ms >= :since LIMIT 1",
      {datasource, since});
  if (!rows.ok()) return rows.status();
  return !rows->empty();
}

}  // namespace interlock::guard
