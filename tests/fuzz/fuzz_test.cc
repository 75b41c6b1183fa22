// A seeded mutator over what Druid really answers: the few seconds of fuzzing that every
// gate can afford. INTERLOCK_SEED=N replays a run, INTERLOCK_FUZZ_RUNS=N makes it longer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/fuzz/segment_lists.h"

namespace interlock::druid {
namespace {

constexpr int64_t kRuns = 40'000;

const char* const kSeeds[] = {
    R"([{"dataSource":"d","interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)"
    R"("version":"2026-07-16T14:10:00.000Z","loadSpec":{"type":"local","path":"/a/b"},)"
    R"("dimensions":"site","metrics":"events,sent","shardSpec":{"type":"numbered",)"
    R"("partitionNum":0,"partitions":2},"binaryVersion":9,"size":1457,"identifier":"d_x"},)"
    R"({"dataSource":"d","interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)"
    R"("version":"2026-07-16T14:10:00.000Z","shardSpec":{"type":"single","dimension":"site",)"
    R"("start":null,"end":"é","partitionNum":1,"numCorePartitions":2},"size":1}])",
    R"([{"dataSegment":{"dataSource":"d","interval":"2026-07-16/2026-07-17","version":"v",)"
    R"("shardSpec":{"type":"tombstone","partitionNum":0,"partitions":0},"size":1,)"
    R"("lastCompactionState":{"a":[1,{"b":null}]}},"createdDate":"2026-07-16T13:00:00.000Z",)"
    R"("usedStatusLastUpdatedDate":"2026-07-16T13:00:00.000Z","used":false}])",
    R"(["d_2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z_2026-07-16T14:10:00.000Z",)"
    R"("d_2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z_2026-07-16T14:10:00.000Z_12"])",
    R"([{"type":"loadByPeriod","period":"P1M","tieredReplicants":{"hot":2}},)"
    R"({"type":"dropByInterval","interval":"2026-07-16/2026-07-17"},{"type":"dropForever"}])"};

const char* const kBits[] = {"[",
                             "]",
                             "{",
                             "}",
                             ",",
                             ":",
                             "\"",
                             "\\",
                             "\\u",
                             "null",
                             "true",
                             "-1",
                             "1e999",
                             "\0",
                             "\xff",
                             "\xc3",
                             "_",
                             "/",
                             "99999999999999999999",
                             "[[[[[[[[[[[[[[[[",
                             "{\"a\":"};

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string Next() {
    std::string text = kSeeds[Below(std::size(kSeeds))];
    for (uint64_t i = Below(6); i > 0; --i) Mutate(&text);
    return std::string(1, static_cast<char>(Below(256))) + text;
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  void Mutate(std::string* text) {
    const size_t at = text->empty() ? 0 : Below(text->size());
    switch (Below(6)) {
      case 0:
        return text->resize(at);
      case 1:
        if (!text->empty()) (*text)[at] = static_cast<char>(Below(256));
        return;
      case 2:
        text->insert(at, kBits[Below(std::size(kBits))]);
        return;
      case 3:
        text->erase(at, 1 + Below(20));
        return;
      case 4:
        text->insert(at, text->substr(Below(text->size() + 1), 1 + Below(80)));
        return;
      default:
        text->append(kSeeds[Below(std::size(kSeeds))]);
    }
  }

  std::mt19937_64 random_;
};

int64_t NumberFrom(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t number = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &number)) ADD_FAILURE() << name << "=" << text;
  return number;
}

TEST(Fuzz, WhateverADruidSendsIsReadOrRefusedWithAReason) {
  const auto seed = static_cast<uint64_t>(
      NumberFrom("INTERLOCK_SEED", static_cast<int64_t>(std::random_device()())));
  std::cerr << "INTERLOCK_SEED=" << seed << " replays it\n";
  Mutator mutator(seed);
  for (int64_t runs = NumberFrom("INTERLOCK_FUZZ_RUNS", kRuns); runs > 0; --runs) {
    ReadHostileList(mutator.Next());
  }
}

}  // namespace
}  // namespace interlock::druid
