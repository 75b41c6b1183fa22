#include <memory>
#include <utility>

#include "lib/lease/lock_names.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/lease/waiting.h"

namespace interlock::lease {
namespace {

// Writes `body`, which gives a T, and answers with it once it is durable.
template <class T, class Body>
void WriteFor(store::Store& store, std::vector<std::string>&& locks, Done<T> done, Body body) {
  auto result = std::make_shared<absl::StatusOr<T>>(absl::UnknownError("not run"));
  store.WriteLockedAsync(
      std::move(locks),
      [result, body = std::move(body)](store::Transaction& tx) {
        *result = body(tx);
        return result->status();
      },
      [result, done = std::move(done)](const absl::Status& status) {
        if (status.ok()) {
          done(std::move(*result));
        } else {
          done(status);
        }
      });
}

// The same of a call that knows its reservation by its id.
template <class Body>
void WriteOf(store::Store& store, LockNames* names, const std::string& id, Done<Reservation> done,
             Body body) {
  if (names == nullptr) return WriteFor<Reservation>(store, {}, std::move(done), std::move(body));
  WriteFor<Reservation>(
      store, names->Of(id),
      [names, done = std::move(done)](absl::StatusOr<Reservation> reservation) {
        if (reservation.ok()) names->Learn(*reservation);
        done(std::move(reservation));
      },
      std::move(body));
}

}  // namespace

void ReserveAsync(store::Store& store, ReserveRequest request, audit::Caller caller, Limits limits,
                  Done<Grant> done) {
  std::vector<std::string> locks = {LockOf(request.datasource)};
  WriteFor<Grant>(
      store, std::move(locks), std::move(done),
      [request = std::move(request), caller = std::move(caller), limits = std::move(limits)](
          store::Transaction& tx) { return Reserve(tx, request, caller, limits); });
}

void WaitOnAsync(store::Store& store, ReserveRequest request, Waiting place, audit::Caller caller,
                 Limits limits, Done<Grant> done) {
  std::vector<std::string> locks = {LockOf(request.datasource)};
  WriteFor<Grant>(store, std::move(locks), std::move(done),
                  [request = std::move(request), place = std::move(place),
                   caller = std::move(caller), limits = std::move(limits)](store::Transaction& tx) {
                    return WaitOn(tx, request, place, caller, limits);
                  });
}

void RenewAsync(store::Store& store, std::string id, int64_t token,
                std::optional<absl::Duration> ttl, audit::Caller caller, Limits limits,
                Done<Reservation> done, LockNames* names) {
  const std::string of = id;
  WriteOf(store, names, of, std::move(done),
          [id = std::move(id), token, ttl, caller = std::move(caller),
           limits = std::move(limits)](store::Transaction& tx) -> absl::StatusOr<Reservation> {
            absl::Status status = CheckHolder(tx, id, caller.identity);
            if (!status.ok()) return status;
            return Renew(tx, id, token, ttl, caller, limits);
          });
}

void ReleaseAsync(store::Store& store, std::string id, int64_t token,
                  std::vector<Interval> intervals, audit::Caller caller, Done<Reservation> done,
                  LockNames* names) {
  const std::string of = id;
  WriteOf(store, names, of, std::move(done),
          [id = std::move(id), token, intervals = std::move(intervals),
           caller = std::move(caller)](store::Transaction& tx) -> absl::StatusOr<Reservation> {
            absl::Status status = CheckHolder(tx, id, caller.identity);
            if (!status.ok()) return status;
            return intervals.empty() ? Release(tx, id, token, caller)
                                     : ReleaseIntervals(tx, id, token, intervals, caller);
          });
}

void ForceReleaseAsync(store::Store& store, std::string id, audit::Caller caller,
                       Done<Reservation> done, LockNames* names) {
  const std::string of = id;
  WriteOf(store, names, of, std::move(done),
          [id = std::move(id), caller = std::move(caller)](store::Transaction& tx) {
            return ForceRelease(tx, id, caller);
          });
}

}  // namespace interlock::lease
