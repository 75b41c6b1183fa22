// Streams, as the server offers them: declared, listed, forgotten.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/druid/cluster.h"
#include "lib/guard/look.h"
#include "lib/guard/options.h"
#include "lib/guard/stream.h"
#include "lib/lease/reservations.h"
#include "lib/store/store.h"

namespace interlock::guard {

struct Registration {
  std::string datasource;
  std::string name;  // "": the supervisor's id, else kDefaultStream
  // At most one of these four.
  std::optional<absl::Duration> tail;
  std::optional<Instant> reported_start;
  std::string supervisor_id;
  std::string supervisor_spec;  // JSON
  bool accept_unbounded = false;
};

// A change of what is declared, for the audit; written in the change's transaction.
struct Declaration {
  std::string method;  // "RegisterStream"
  std::string datasource, name;
  std::string before, after;  // JSON; "" for nothing
};
using Recorder = std::function<absl::Status(store::Transaction& tx, const Declaration& change,
                                            const audit::Caller& caller)>;

class Streams {
 public:
  // All must outlive it. `record` may be empty.
  Streams(store::Store& store, druid::Cluster& cluster, Options options, Recorder record)
      : store_(store),
        cluster_(cluster),
        options_(std::move(options)),
        record_(std::move(record)) {}

  struct Told {
    Stream stream;
    std::vector<TailNotice> notices;
  };
  // Declares it, new or in place of what was declared under its key; with `validate_only`
  // only says which tail it would have. INVALID_DATASOURCE, TAIL_MISSING, TAIL_INVALID,
  // SPEC_INVALID, UNKNOWN_SUPERVISOR, OTHER_DATASOURCE, STREAM_CONFLICT, DRUID_UNAVAILABLE
  // (only where a supervisor is named).
  absl::StatusOr<Told> Register(const Registration& registration, bool validate_only,
                                const audit::Caller& caller);

  // Forgets what was declared; `name` "" for the only one. Gives the stream as it is still
  // found. UNKNOWN_STREAM, DRUID_UNAVAILABLE.
  absl::StatusOr<std::optional<Told>> Remove(const std::string& datasource, const std::string& name,
                                             const audit::Caller& caller);

  struct Page {
    std::vector<Told> streams;
    std::string next;  // "" at the end
  };
  // `size` 0 is 100, at most 1,000. BAD_PAGE_TOKEN.
  absl::StatusOr<Page> List(const std::string& datasource, int64_t size,
                            const std::string& token) const;

 private:
  absl::StatusOr<Stream> Declare(const Registration& registration,
                                 const std::optional<SeenStreams>& seen,
                                 const audit::Caller& caller) const;
  // Whatever Druid shows of the datasource, where it can be asked.
  std::optional<SeenStreams> LookAt(absl::Status* why) const;
  absl::Status Store(store::Transaction& tx, const Stream& stream,
                     const std::optional<SeenStreams>& seen, const Declaration& change,
                     const audit::Caller& caller) const;

  store::Store& store_;
  druid::Cluster& cluster_;
  const Options options_;
  const Recorder record_;
};

}  // namespace interlock::guard
