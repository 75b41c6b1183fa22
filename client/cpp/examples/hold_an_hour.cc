// Holds an hour of a datasource while it works, and stops when the lease is lost.
//
//   hold_an_hour ADDRESS DATASOURCE INTERVAL STEPS
//
// Exit: 0 all steps were done under the lease; 1 it was not to be had; 3 it was lost.
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "client/cpp/connection.h"
#include "client/cpp/reservation.h"
#include "lib/time/clock.h"
#include "lib/time/status_reason.h"

namespace client = interlock::client;

namespace {

// Stands for what you do: short enough that held() is asked often, and fenced by the token.
void DoStep(int step, int64_t fencing_token) {
  std::cout << "step " << step << " under token " << fencing_token << std::endl;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: hold_an_hour ADDRESS DATASOURCE INTERVAL STEPS\n";
    return 2;
  }
  auto connection = client::Connection::Open({.address = argv[1], .caller = "example"});
  if (!connection.ok()) {
    std::cerr << connection.status() << '\n';
    return 1;
  }
  const interlock::SystemClock clock;

  interlock::v1::ReserveIntervalRequest request;
  request.set_datasource(argv[2]);
  request.add_intervals(argv[3]);
  request.set_purpose("example");
  request.mutable_ttl()->set_seconds(3);

  client::Reservation::Options options;
  options.events.renewal_failed = [](const absl::Status& why, absl::Duration left) {
    std::cerr << "unreachable so far, " << left << " left: " << why.message() << '\n';
  };
  auto lease = client::Reservation::Take(**connection, clock, request, options);
  if (!lease.ok()) {
    std::cerr << interlock::ReasonOf(lease.status()) << ": " << lease.status().message() << '\n';
    return 1;
  }

  for (int step = 1; step <= std::atoi(argv[4]); ++step) {
    if (!(*lease)->held()) {
      std::cerr << "lost: " << interlock::ReasonOf((*lease)->loss()) << '\n';
      return 3;
    }
    DoStep(step, (*lease)->fencing_token());
  }
  return 0;  // and the lease is given back
}
