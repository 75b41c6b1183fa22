// A server of the lease table without its gRPC: takes calls on standard input, a line each,
// and answers on standard output, in whatever order they are done. For history_test.py,
// which kills it.
//
//   reserve CALL HOLDER REQUEST_ID FIRST LAST TTL_MS   hours of one day
//   release CALL HOLDER RESERVATION TOKEN
//   get CALL RESERVATION
//
//   CALL granted RESERVATION TOKEN CREATED_MS DEADLINE_MS | CALL refused REASON BLOCKER
//   CALL done TOKEN | CALL unknown REASON
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/lease/reservations.h"
#include "lib/store/postgres.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {
namespace {

constexpr char kDatasource[] = "wiki";

class Replica {
 public:
  explicit Replica(store::Store& store) : store_(store) {}

  void Take(std::istringstream& words) {
    std::string verb, call;
    words >> verb >> call;
    if (verb == "reserve") Reserve(words, call);
    if (verb == "release") Release(words, call);
    if (verb == "get") Get(words, call);
  }
  void Say(const std::string& line) {
    MutexLock lock(mutex_);
    std::cout << line << std::endl;
  }

 private:
  void Reserve(std::istringstream& words, const std::string& call) {
    const Instant midnight = Instant::FromMillis(1784160000000);
    ReserveRequest request;
    request.datasource = kDatasource;
    int first = 0, last = 0;
    int64_t ttl_ms = 0;
    words >> request.holder >> request.request_id >> first >> last >> ttl_ms;
    request.intervals = {
        *Interval::Of(midnight + absl::Hours(first), midnight + absl::Hours(last))};
    request.ttl = absl::Milliseconds(ttl_ms);
    const audit::Caller caller{request.holder, call, ""};
    ReserveAsync(store_, std::move(request), caller, {}, [this, call](absl::StatusOr<Grant> grant) {
      if (!grant.ok()) return Refuse(call, grant.status());
      const Reservation& made = grant->reservation;
      Say(absl::StrCat(call, " granted ", made.id, " ", made.token, " ", made.created.millis(), " ",
                       made.deadline.millis()));
    });
  }

  void Release(std::istringstream& words, const std::string& call) {
    std::string holder, id;
    int64_t token = 0;
    words >> holder >> id >> token;
    ReleaseAsync(store_, id, token, {}, {holder, call, ""},
                 [this, call](absl::StatusOr<Reservation> released) {
                   if (!released.ok()) return Refuse(call, released.status());
                   Say(absl::StrCat(call, " done ", released->token));
                 });
  }

  void Get(std::istringstream& words, const std::string& call) {
    std::string id;
    words >> id;
    int64_t token = 0;
    const absl::Status status = store_.Read([&](store::Transaction& tx) {
      absl::StatusOr<Reservation> found = lease::Get(tx, id);
      if (found.ok()) token = found->token;
      return found.status();
    });
    if (!status.ok()) return Refuse(call, status);
    Say(absl::StrCat(call, " done ", token));
  }

  // A store that fails says nothing of what was asked.
  void Refuse(const std::string& call, const absl::Status& status) {
    const std::string reason = ReasonOf(status);
    const bool unknown = reason.rfind("STORE_", 0) == 0;
    const Metadata details = MetadataOf(status);
    const auto blocker = details.find("reservation");
    Say(absl::StrCat(call, unknown ? " unknown " : " refused ", reason, " ",
                     blocker == details.end() ? "-" : blocker->second));
  }

  store::Store& store_;
  Mutex mutex_;
};

int Serve(const std::string& dsn) {
  const SystemClock clock;
  store::PostgresOptions options;
  options.connection_string = [dsn] { return dsn; };
  options.schemas = {audit::AuditSchema(), LeaseSchema()};
  auto store = store::OpenPostgres(std::move(options), clock);
  if (!store.ok()) {
    std::cerr << store.status() << std::endl;
    return 1;
  }
  Replica replica(**store);
  replica.Say("serving");
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    replica.Take(words);
  }
  return 0;
}

}  // namespace
}  // namespace interlock::lease

int main(int argc, char** argv) { return argc == 2 ? interlock::lease::Serve(argv[1]) : 2; }
