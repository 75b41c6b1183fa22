// PostgreSQL: a row with an exclusion constraint over (datasource, range). Its clients are
// connections of their own, with a prepared statement. It has no TTL.
#include <libpq-fe.h>

#include <memory>

#include "tests/bench/load/load.h"
#include "tests/bench/load/sockets.h"

namespace interlock::bench {
namespace {

constexpr char kInsert[] =
    "INSERT INTO reservations (datasource, span, holder, purpose) SELECT $1, "
    "int8range(s, s + $4::int8), 'bench', 'nightly backfill' FROM "
    "generate_series($2::int8, $3::int8, 2 * $4::int8) s RETURNING id";

class Connection {
 public:
  explicit Connection(const Plan& plan) : db_(PQconnectdb(plan.target.c_str())) {
    if (!Connected()) return;
    PQclear(PQprepare(db_, "insert", kInsert, 4, nullptr));
    PQsetnonblocking(db_, 1);
  }
  ~Connection() { PQfinish(db_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool Connected() const { return PQstatus(db_) == CONNECTION_OK; }
  int socket() const { return PQsocket(db_); }
  std::string error() const { return PQerrorMessage(db_); }
  Clock::time_point sent() const { return sent_; }

  void Send(const Plan& plan, uint64_t number) {
    const auto slots = SlotsOf(plan, number);
    const std::string start = std::to_string(slots.front().start);
    const std::string last = std::to_string(slots.back().start);
    const std::string length = std::to_string(slots.front().end - slots.front().start);
    const char* values[] = {plan.datasource.c_str(), start.c_str(), last.c_str(), length.c_str()};
    sent_ = Clock::now();
    PQsendQueryPrepared(db_, "insert", 4, values, nullptr, nullptr, 0);
    PQflush(db_);
  }

  // True once the answer is whole; then `good` says whether it is a grant.
  bool Read(bool& good) {
    PQconsumeInput(db_);
    if (PQisBusy(db_) != 0) return false;
    good = true;
    while (PGresult* result = PQgetResult(db_)) {
      good = good && PQresultStatus(result) == PGRES_TUPLES_OK;
      PQclear(result);
    }
    return true;
  }

 private:
  PGconn* const db_;
  Clock::time_point sent_;
};

}  // namespace

void LoadPostgres(const Plan& plan, Meter& meter) {
  Sockets sockets;
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < plan.clients; ++i) {
    connections.push_back(std::make_unique<Connection>(plan));
    if (!connections.back()->Connected()) return meter.Failed(connections.back()->error());
    sockets.Add(connections.back()->socket(), static_cast<uint64_t>(i));
  }
  int running = 0;
  const auto next = [&](Connection& connection) {
    const int64_t number = meter.Next();
    if (number < 0) return;
    connection.Send(plan, static_cast<uint64_t>(number));
    ++running;
  };
  for (auto& connection : connections) next(*connection);
  while (running > 0) {
    sockets.Wait([&](uint64_t client) {
      Connection& connection = *connections[client];
      bool good = false;
      if (!connection.Read(good)) return;
      --running;
      if (!good) return meter.Failed("postgresql: " + connection.error());
      meter.Answered(connection.sent());
      next(connection);
    });
  }
}

}  // namespace interlock::bench
