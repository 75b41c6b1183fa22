#include "lib/guard/mirror.h"

#include <string>

#include "lib/guard/rows.h"
#include "lib/lease/tails.h"

namespace interlock::guard {

absl::StatusOr<bool> AcceptsUnbounded(store::Transaction& tx, const Stream& stream,
                                      const Options& options) {
  if (stream.accept_unbounded) return true;
  if (options.accepts_unbounded && options.accepts_unbounded(stream.datasource)) return true;
  auto of_datasource = FindStream(tx, stream.datasource, kDefaultStream);
  if (!of_datasource.ok()) return of_datasource.status();
  return of_datasource->has_value() && (*of_datasource)->accept_unbounded;
}

absl::Status MirrorTail(store::Transaction& tx, const Stream& stream, const Options& options) {
  bool refuses = stream.tail.any;
  if (refuses && stream.tail.bound.unbounded()) {
    auto accepted = AcceptsUnbounded(tx, stream, options);
    if (!accepted.ok()) return accepted.status();
    refuses = !*accepted;
  }
  if (!refuses) return lease::RemoveTail(tx, stream.datasource, stream.name).status();
  lease::Tail tail;
  tail.datasource = stream.datasource;
  tail.stream = stream.name;
  tail.bound = stream.tail.bound.fixed;
  tail.offset = stream.tail.bound.length;
  const absl::string_view source = NameOf(stream.tail.source);
  tail.source = std::string(source.data(), source.size());
  tail.note = stream.stale ? "as last known: Druid can't be asked now" : stream.reason;
  return lease::SetTail(tx, tail);
}

}  // namespace interlock::guard
