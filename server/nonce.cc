#include "server/nonce.h"

#include <cstdint>
#include <random>

#include "absl/strings/str_format.h"

namespace interlock::server {

std::string MakeNonce() {
  // The kernel's own generator: no seed to guess or to repeat.
  static thread_local std::random_device device("/dev/urandom");
  std::string nonce;
  for (int i = 0; i < 4; ++i) nonce += absl::StrFormat("%08x", uint32_t{device()});
  return nonce;
}

}  // namespace interlock::server
