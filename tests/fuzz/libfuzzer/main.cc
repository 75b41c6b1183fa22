// libFuzzer's entry: see tests/fuzz/run.
#include "tests/fuzz/segment_lists.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  interlock::druid::ReadHostileList(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
