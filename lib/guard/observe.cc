#include "lib/guard/observe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/guard/changes.h"
#include "lib/guard/mirror.h"
#include "lib/guard/rows.h"

namespace interlock::guard {
namespace {

void Note(const druid::Supervisor& supervisor, Stream* stream) {
  stream->kind = Kind::kSupervisor;
  stream->supervisor_id = supervisor.id;
  stream->in_druid = true;
  stream->missing_since.reset();
  stream->spec_digest = supervisor.digest;
  stream->topic = supervisor.stream;
  stream->concurrent_locks = supervisor.concurrent_locks;
}

Stream Discovered(const SeenKey& key, Instant now) {
  Stream stream;
  stream.datasource = key.first;
  stream.name = key.second;
  stream.kind = Kind::kSupervisor;
  stream.supervisor_id = key.second;
  stream.created = now;
  return stream;
}

// Of a supervisor the first look misses: it stays. The second one: it is gone.
absl::Status Miss(store::Transaction& tx, Stream stream, const Options& options) {
  if (!stream.missing_since) {
    stream.missing_since = tx.now();
    return PutStream(tx, stream);
  }
  absl::Status status = ReportGone(tx, stream);
  if (!status.ok()) return status;
  stream.in_druid = false;
  if (stream.is_declared) {
    const Seen nobody;
    auto tail = TailOf(tx, stream, &nobody);
    if (!tail.ok()) return tail.status();
    stream.tail = *tail;
    stream.health.reset();
    status = PutStream(tx, stream);
  } else {
    stream.tail.any = false;
    status = DeleteStream(tx, stream.datasource, stream.name);
  }
  return status.ok() ? MirrorTail(tx, stream, options) : status;
}

}  // namespace

absl::StatusOr<Tail> TailOf(store::Transaction& tx, const Stream& stream, const Seen* seen) {
  std::optional<Stream> of_datasource;
  if (stream.name != kDefaultStream) {
    auto found = FindStream(tx, stream.datasource, kDefaultStream);
    if (!found.ok()) return found.status();
    of_datasource = *std::move(found);
  }
  return ComputeTail(stream.declared, of_datasource ? &of_datasource->declared : nullptr, seen,
                     tx.now());
}

absl::Status ObserveOne(store::Transaction& tx, const SeenKey& key, const Seen& seen,
                        const Health* health, const Options& options) {
  auto found = FindStream(tx, key.first, key.second);
  if (!found.ok()) return found.status();
  const std::optional<Stream> before = *std::move(found);
  Stream stream = before.value_or(Discovered(key, tx.now()));
  if (seen.supervisor) Note(*seen.supervisor, &stream);
  auto tail = TailOf(tx, stream, &seen);
  if (!tail.ok()) return tail.status();
  stream.tail = *tail;
  stream.observed = tx.now();
  stream.stale = false;
  if (health != nullptr) stream.health = *health;
  absl::Status status = PutStream(tx, stream);
  if (status.ok()) status = MirrorTail(tx, stream, options);
  if (status.ok() && before) status = ReportChanges(tx, *before, stream);
  if (status.ok()) status = ReportState(tx, stream, seen, options);
  return status;
}

absl::Status ObserveAll(store::Transaction& tx, const SeenStreams& seen,
                        const std::map<SeenKey, Health>& healths, const Options& options) {
  for (const auto& [key, one] : seen.streams) {
    const auto health = healths.find(key);
    absl::Status status =
        ObserveOne(tx, key, one, health != healths.end() ? &health->second : nullptr, options);
    if (!status.ok()) return status;
  }
  auto stored = StreamsOf(tx, "");
  if (!stored.ok()) return stored.status();
  for (Stream& stream : *stored) {
    if (!stream.in_druid || seen.streams.count({stream.datasource, stream.supervisor_id}) > 0) {
      continue;
    }
    absl::Status status = Miss(tx, std::move(stream), options);
    if (!status.ok()) return status;
  }
  return ReportOrphans(tx, seen, options);
}

absl::Status MarkStale(store::Transaction& tx, const Options& options) {
  auto stored = StreamsOf(tx, "");
  if (!stored.ok()) return stored.status();
  for (Stream& stream : *stored) {
    if (!stream.in_druid || stream.stale) continue;
    stream.stale = true;
    absl::Status status = PutStream(tx, stream);
    if (status.ok()) status = MirrorTail(tx, stream, options);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace interlock::guard
