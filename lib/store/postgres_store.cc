#include <algorithm>
#include <utility>

#include "lib/store/batch_runner.h"
#include "lib/store/facts.h"
#include "lib/store/group_commit.h"
#include "lib/store/listeners.h"
#include "lib/store/postgres.h"
#include "lib/store/postgres_session.h"
#include "lib/store/postgres_start.h"
#include "lib/store/postgres_transaction.h"
#include "lib/store/postgres_watch.h"
#include "lib/store/reader_pool.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

// The parts of an open store, in the order in which they are made; they go in reverse.
class PostgresStore : public Store {
 public:
  PostgresStore(std::unique_ptr<PostgresSession> session, PostgresStart start)
      : session_(std::move(session)),
        incarnation_(std::move(start.incarnation)),
        origin_(std::move(start.origin)),
        watch_(*session_, listeners_),
        readers_(Readers()),
        transaction_(
            *session_, NewIncarnation(),
            [this](Connection& connection) { return OnConnect(connection); },
            [this](const auto& channels) { watch_.Notify(channels); }),
        runner_(transaction_),
        commits_(runner_, session_->clock(), CommitOptions()) {}

  ~PostgresStore() override { transaction_.Close(); }

  void WriteAsync(Body body, Done done) override {
    commits_.Add({std::move(body), std::move(done)});
  }
  void WriteLockedAsync(std::vector<std::string> locks, Body body, Done done) override {
    commits_.Add({std::move(body), std::move(done), std::move(locks)});
  }
  absl::Status Read(const Body& body) override {
    absl::Status status = readers_.Read(body);
    // A lost connection is nothing that callers need to tell from a lost database.
    return IsConflict(status) ? StoreUnavailable(status.message()) : status;
  }
  std::unique_ptr<Listening> Listen(const std::string& channel,
                                    std::function<void()> wake) override {
    return listeners_.Add(channel, std::move(wake));
  }

  Instant Now() const override { return session_->time().Now(); }
  const std::string& incarnation() const override { return incarnation_; }
  int64_t clock_jumps() const override { return session_->time().jumps(); }
  absl::Status Health() const override {
    absl::Status status = commits_.Health();
    return status.ok() ? watch_.Health() : status;
  }
  StoreDescription Describe() const override {
    return {"postgresql", watch_.synchronous(), watch_.notices()};
  }

 private:
  GroupCommit::Options CommitOptions() const {
    GroupCommit::Options commit;
    commit.largest_batch = session_->options().largest_batch;
    commit.most_waiting = session_->options().most_waiting;
    commit.on_batch = session_->options().on_batch;
    return commit;
  }

  ReaderPool::Engine Readers() {
    ReaderPool::Engine engine;
    engine.open = [this]() -> absl::StatusOr<std::unique_ptr<Connection>> {
      return session_->Connect(PostgresUse::kRead);
    };
    engine.begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    engine.time = [this](Connection& connection) { return session_->ReadTime(connection); };
    engine.most = std::max(1, session_->options().connections - 2);
    return engine;
  }

  // On the writer's thread.
  absl::Status OnConnect(Connection& connection) {
    return CheckOrigin(connection, session_->options().schemas, session_->clock().Now(), origin_);
  }

  const std::unique_ptr<PostgresSession> session_;
  const std::string incarnation_;
  std::string origin_;  // of the writer's thread
  Listeners listeners_;
  PostgresWatch watch_;
  ReaderPool readers_;
  PostgresTransaction transaction_;
  BatchRunner runner_;
  GroupCommit commits_;
};

absl::StatusOr<std::unique_ptr<PostgresSession>> SessionOf(PostgresOptions options,
                                                           const Clock& clock) {
  const Schema own[] = {FactsSchema(), PostgresSchema()};
  options.schemas.insert(options.schemas.begin(), std::begin(own), std::end(own));
  return std::make_unique<PostgresSession>(std::move(options), clock);
}

// Schema, origin and time, on a connection that then goes.
absl::StatusOr<PostgresStart> Start(PostgresSession& session) {
  auto connection = session.Connect(PostgresUse::kMigrate);
  if (!connection.ok()) return connection.status();
  absl::StatusOr<PostgresStart> start =
      StartPostgres(**connection, session.options().schemas, session.clock().Now());
  if (!start.ok()) return start;
  absl::StatusOr<PostgresSession::Look> look = session.LookAt(**connection);
  if (!look.ok()) return look.status();
  if (session.time().Judge(look->time).jump == absl::ZeroDuration()) return start;
  absl::Status status = session.CorrectTime(**connection);
  if (!status.ok()) return status;
  look = session.LookAt(**connection);
  if (!look.ok()) return look.status();
  session.time().Judge(look->time);
  return start;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenPostgres(PostgresOptions options, const Clock& clock) {
  auto session = SessionOf(std::move(options), clock);
  if (!session.ok()) return session.status();
  absl::StatusOr<PostgresStart> start = Start(**session);
  if (!start.ok()) {
    return IsConflict(start.status()) ? StoreUnavailable(start.status().message()) : start.status();
  }
  return std::make_unique<PostgresStore>(*std::move(session), *std::move(start));
}

absl::Status MigratePostgres(PostgresOptions options, const Clock& clock) {
  auto session = SessionOf(std::move(options), clock);
  if (!session.ok()) return session.status();
  return Start(**session).status();
}

}  // namespace interlock::store
