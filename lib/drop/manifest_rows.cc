// The manifest in the store's tables.
#include <utility>

#include "lib/drop/columns.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/rows.h"

namespace interlock::drop {
namespace {

absl::Status InsertManifestRow(store::Transaction& tx, const std::string& id, int64_t place,
                               const ManifestRow& row) {
  return tx
      .Execute(
          "INSERT INTO drop_segment (drop_id, place, segment_id, start_ms, end_ms, version,"
          " partition_num, size_bytes, load_spec, tombstone, hidden, phase, sent_ms, unused_ms,"
          " file, kill_task, shard_type) VALUES (:drop, :place, :segment, :start, :end, :version,"
          " :partition, :size, :load_spec, :tombstone, :hidden, :phase, :sent, :unused, :file,"
          " :kill_task, :shard_type)",
          {id, place, row.id, row.interval.start(), row.interval.end(), row.version,
           int64_t{row.partition_num}, row.size_bytes, row.load_spec, row.tombstone, row.hidden,
           Name(row.phase), row.sent_at, row.unused_at, Name(row.file), row.kill_task,
           row.shard_type})
      .status();
}

absl::StatusOr<ManifestRow> ManifestRowFrom(const std::string& id, const store::Row& stored) {
  Columns in(stored);
  ManifestRow row;
  row.id = in.Text();
  const Instant start = in.At();
  const absl::StatusOr<Interval> interval = Interval::Of(start, in.At());
  if (!interval.ok()) return DropCorrupt(id, row.id);
  row.interval = *interval;
  row.version = in.Text();
  row.partition_num = static_cast<int32_t>(in.Int());
  row.size_bytes = in.Int();
  row.load_spec = in.Text();
  row.tombstone = in.Flag();
  row.hidden = in.Flag();
  row.phase = in.Named(PhaseNamed, "phase");
  row.sent_at = in.MaybeAt();
  row.unused_at = in.MaybeAt();
  row.file = in.Named(FileNamed, "file");
  row.kill_task = in.Text();
  row.shard_type = in.Text();
  if (!in.fault().empty()) return DropCorrupt(id, in.fault());
  return row;
}

}  // namespace

absl::Status InsertManifest(store::Transaction& tx, const std::string& id, const Manifest& rows) {
  absl::Status status;
  for (size_t place = 0; status.ok() && place < rows.size(); ++place) {
    status = InsertManifestRow(tx, id, static_cast<int64_t>(place), rows[place]);
  }
  return status;
}

absl::StatusOr<Manifest> ReadManifest(store::Transaction& tx, const std::string& id) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT segment_id, start_ms, end_ms, version, partition_num, size_bytes, load_spec,"
      " tombstone, hidden, phase, sent_ms, unused_ms, file, kill_task, shard_type FROM"
      " drop_segment"
      " WHERE drop_id = :id ORDER BY place",
      {id});
  if (!rows.ok()) return rows.status();
  Manifest manifest;
  for (const store::Row& stored : *rows) {
    absl::StatusOr<ManifestRow> row = ManifestRowFrom(id, stored);
    if (!row.ok()) return row.status();
    manifest.push_back(*std::move(row));
  }
  return manifest;
}

absl::Status UpdateManifestRow(store::Transaction& tx, const std::string& id, size_t place,
                               const ManifestRow& row) {
  return tx
      .Execute(
          "UPDATE drop_segment SET phase = :phase, sent_ms = :sent, unused_ms = :unused,"
          " file = :file, kill_task = :task WHERE drop_id = :id AND place = :place",
          {Name(row.phase), row.sent_at, row.unused_at, Name(row.file), row.kill_task, id,
           static_cast<int64_t>(place)})
      .status();
}

}  // namespace interlock::drop
