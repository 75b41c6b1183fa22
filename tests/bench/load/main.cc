// interlock-load: asks one server for intervals, as fast as it answers.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/bench/load/load.h"

namespace interlock::bench {
namespace {

constexpr char kUsage[] =
    "interlock-load PEER TARGET [--clients N] [--intervals N] [--datasource NAME] [--first N]\n"
    "    [--calls N] [--warm-up S] [--seconds S] [--channels N]\n"
    "PEER: interlock, interlock-list, interlock-append, etcd, postgresql, redis. Prints a line of "
    "JSON.\n"
    "Exit: 0 all calls were granted; 1 one was not; 2 bad usage.\n";

using Load = void (*)(const Plan&, Meter&);

int Main(int argc, char** argv) {
  const std::map<std::string, Load> peers = {{"interlock", LoadInterlock},
                                             {"interlock-list", ListFromInterlock},
                                             {"interlock-append", AskInterlockToAppend},
                                             {"etcd", LoadEtcd},
                                             {"postgresql", LoadPostgres},
                                             {"redis", LoadRedis}};
  const auto peer = argc < 3 ? peers.end() : peers.find(argv[1]);
  Plan plan;
  bool understood = peer != peers.end() && argc % 2 == 1;
  for (int i = 3; understood && i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--clients")
      plan.clients = std::atoi(value);
    else if (flag == "--intervals")
      plan.intervals = std::atoi(value);
    else if (flag == "--datasource")
      plan.datasource = value;
    else if (flag == "--first")
      plan.first = std::strtoull(value, nullptr, 10);
    else if (flag == "--calls")
      plan.at_most = std::strtoull(value, nullptr, 10);
    else if (flag == "--warm-up")
      plan.warm_up = std::atof(value);
    else if (flag == "--seconds")
      plan.measured = std::atof(value);
    else if (flag == "--channels")
      plan.channels = std::atoi(value);
    else
      understood = false;
  }
  if (!understood || plan.clients < 1 || plan.intervals < 1) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  plan.target = argv[2];
  Meter meter(plan);
  peer->second(plan, meter);
  return meter.Print() ? 0 : 1;
}

}  // namespace
}  // namespace interlock::bench

int main(int argc, char** argv) { return interlock::bench::Main(argc, argv); }
