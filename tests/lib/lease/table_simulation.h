// Random calls (reserve, skip, wait, renew, release, force, pin), lost replies, crashes,
// clock steps and restarts against the lease table and its model, by a seed.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/lease/waiting.h"
#include "tests/lib/lease/lease_fixture.h"
#include "tests/lib/lease/table_model.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::lease {

// Of a datasource.
inline constexpr int kHours = 16;

std::vector<Interval> ToIntervals(const HourSet& hours);

class Simulation : public LeaseTest {
 public:
  Simulation() { Restart(); }

  void Run(uint64_t seed);
  void TestBody() override {}

 private:
  int Pick(int count) { return static_cast<int>(random_() % count); }
  bool Chance(int percent) { return Pick(100) < percent; }
  Instant now() { return store_->Now(); }

  void Restart();

  // Down and up again with whatever the wall clock says by then; the store's time must not
  // go back, and must be exact where the machine stayed up.
  void RestartSomehow();
  void Step();
  HourSet SomeHours();
  void TryReserve();
  std::string Named(const std::string& datasource) const;

  // The transaction that would have granted is not committed.
  void Crash(const ReserveRequest& request);
  bool IsKnown(const ReserveRequest& request) const;

  // What the model says of an answer that is not a repeated one. Whether it was granted.
  bool Settle(const ReserveRequest& request, const std::string& body, const HourSet& asked,
              const absl::StatusOr<Grant>& grant, int64_t place);
  void CheckRefused(const ReserveRequest& request, const HourSet& asked,
                    const TableModel::Taken& in_the_way, const absl::StatusOr<Grant>& grant,
                    int64_t place);
  void ActOnWaiter();
  void ChangeTail();

  // Whether there was an earlier request with this id, whose answer this must be.
  bool CheckRepeated(const ReserveRequest& request, const std::string& body,
                     const absl::StatusOr<Grant>& grant);
  void ActOn(const std::string& id, ModelReservation& r);
  void DoRenew(const Reservation& handle, ModelReservation& r);
  void DoRelease(const Reservation& handle, ModelReservation& r);
  void DoForce(const Reservation& handle, ModelReservation& r);
  void DoPin(const Reservation& handle, ModelReservation& r);
  void DoUnpin(ModelReservation& r);
  void DoGiveBack(const Reservation& handle, ModelReservation& r);

  // What a server does beside the calls; nothing that is decided may depend on it.
  void Keep();

  // Every reservation is in the state that the model says and blocks what it says; the
  // promise is kept.
  void CheckAll();

  TemporaryFolder folder_;
  TableModel model_;
  Limits limits_;
  uint64_t seed_ = 0;
  std::map<std::string, int64_t> last_token_;
  std::map<std::string, int64_t> last_place_;
  std::map<std::pair<std::string, int64_t>, std::pair<ReserveRequest, Waiting>> places_;
  int works_ = 0;
  std::mt19937_64 random_;
};

}  // namespace interlock::lease
