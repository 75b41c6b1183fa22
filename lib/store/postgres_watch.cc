#include "lib/store/postgres_watch.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;

// Standbys are seen by those who may read statistics; settings by everybody.
constexpr char kReplication[] =
    "SELECT current_setting('synchronous_standby_names') <> '',"
    " pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),"
    " (SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'),"
    " (SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),"
    " current_setting('fsync')";

struct Replication {
  bool wanted = false;  // a standby has to confirm
  bool seen = false;    // we may see standbys
  int streaming = 0;
  int confirming = 0;
  bool fsync = true;
};

std::optional<Replication> Read(PGconn* connection) {
  const Result result(PQexec(connection, kReplication), PQclear);
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return std::nullopt;
  const auto text = [&](int column) { return std::string(PQgetvalue(result.get(), 0, column)); };
  Replication replication;
  replication.wanted = text(0) == "t";
  replication.seen = text(1) == "t";
  replication.streaming = std::stoi(text(2));
  replication.confirming = std::stoi(text(3));
  replication.fsync = text(4) == "on";
  return replication;
}

std::vector<StoreNotice> NoticesOf(const Replication& replication) {
  std::vector<StoreNotice> notices;
  if (!replication.fsync) {
    notices.push_back({"FSYNC_OFF",
                       "the database runs with fsync = off: a crash of its machine can lose what"
                       " was acknowledged"});
  }
  if (replication.wanted) {
    if (replication.seen && replication.confirming == 0) {
      notices.push_back({"SYNCHRONOUS_STANDBY_AWAY",
                         "the standby that has to confirm commits is not there: commits wait"});
    }
  } else if (!replication.seen) {
    notices.push_back({"REPLICATION_NOT_VISIBLE",
                       "whether the database has standbys can't be seen: GRANT pg_read_all_stats"
                       " to this user; a fail-over to an asynchronous one can lose acknowledged"
                       " reservations"});
  } else if (replication.streaming > 0) {
    notices.push_back({"ASYNCHRONOUS_REPLICATION",
                       "standbys don't confirm commits: a fail-over can lose acknowledged"
                       " reservations; set synchronous_standby_names"});
  }
  return notices;
}

bool SameReasons(const std::vector<StoreNotice>& a, const std::vector<StoreNotice>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const StoreNotice& x, const StoreNotice& y) { return x.reason == y.reason; });
}

}  // namespace

PostgresWatch::PostgresWatch(PostgresSession& session, Listeners& listeners)
    : session_(session),
      listeners_(listeners),
      wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Loop(); }) {}

PostgresWatch::~PostgresWatch() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  WakeUp();
  thread_.join();
  close(wakeup_);
}

void PostgresWatch::WakeUp() {
  const uint64_t one = 1;
  // It can't fail: the counter is far from full.
  static_cast<void>(!write(wakeup_, &one, sizeof(one)));
}

void PostgresWatch::Notify(const std::set<std::string>& channels) {
  {
    MutexLock lock(mutex_);
    to_send_.insert(channels.begin(), channels.end());
  }
  WakeUp();
}

bool PostgresWatch::Send(PGconn* connection) {
  std::set<std::string> channels;
  {
    MutexLock lock(mutex_);
    channels.swap(to_send_);
  }
  for (const std::string& channel : channels) {
    const char* values[] = {channel.c_str()};
    const Result result(PQexecParams(connection, "SELECT pg_notify('interlock', $1)", 1, nullptr,
                                     values, nullptr, nullptr, 0),
                        PQclear);
  }
  return PQstatus(connection) == CONNECTION_OK;
}

absl::Status PostgresWatch::Health() const {
  MutexLock lock(mutex_);
  return look_.health;
}

std::optional<bool> PostgresWatch::synchronous() const {
  MutexLock lock(mutex_);
  return look_.synchronous;
}

std::vector<StoreNotice> PostgresWatch::notices() const {
  MutexLock lock(mutex_);
  return look_.notices;
}

void PostgresWatch::Note(Look look) {
  std::vector<StoreNotice> news;
  {
    MutexLock lock(mutex_);
    if (!SameReasons(look.notices, look_.notices)) news = look.notices;
    look_ = std::move(look);
  }
  if (!session_.options().on_notice) return;
  for (const StoreNotice& notice : news) session_.options().on_notice(notice);
}

bool PostgresWatch::Wait(int socket, std::chrono::nanoseconds longest) {
  pollfd waited[2] = {{wakeup_, POLLIN, 0}, {socket, POLLIN, 0}};
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  poll(waited, socket < 0 ? 1 : 2, static_cast<int>(std::max<int64_t>(millis, 0)));
  uint64_t count = 0;
  static_cast<void>(!read(wakeup_, &count, sizeof(count)));
  MutexLock lock(mutex_);
  return !ending_;
}

void PostgresWatch::Loop() {
  do {
    absl::StatusOr<PostgresAddress> address = AddressOf(session_.options());
    if (!address.ok()) {
      Note({address.status(), std::nullopt, notices()});
      continue;
    }
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(address->text.c_str()),
                                                                PQfinish);
    // Else libpq prints them where logs go.
    PQsetNoticeProcessor(
        connection.get(), [](void*, const char*) {}, nullptr);
    if (PQstatus(connection.get()) == CONNECTION_OK) Listen(connection.get());
    Note({StoreUnavailable(address->WithoutPassword(PQerrorMessage(connection.get()))),
          std::nullopt, notices()});
  } while (Wait(-1, kConnectEvery));
}

void PostgresWatch::Listen(PGconn* connection) {
  const Result listening(PQexec(connection, "SET client_min_messages = error; LISTEN interlock"),
                         PQclear);
  // What was notified before is lost.
  listeners_.WakeAll();
  std::chrono::nanoseconds next_look{0};
  do {
    const std::chrono::nanoseconds now = session_.clock().Monotonic();
    if (now >= next_look) {
      const std::optional<Replication> replication = Read(connection);
      if (!replication.has_value()) return;
      Look look{absl::OkStatus(), std::nullopt, NoticesOf(*replication)};
      if (replication->wanted || replication->seen) look.synchronous = replication->wanted;
      Note(std::move(look));
      next_look = now + kLookEvery;
    }
    if (!Send(connection)) return;
    PQconsumeInput(connection);
    while (PGnotify* notify = PQnotifies(connection)) {
      listeners_.Wake(notify->extra);
      PQfreemem(notify);
    }
    if (PQstatus(connection) != CONNECTION_OK) return;
  } while (Wait(PQsocket(connection), next_look - session_.clock().Monotonic()));
}

}  // namespace interlock::store
