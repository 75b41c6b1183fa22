#include "lib/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

std::string OwnerIn(int descriptor) {
  char text[64];
  const ssize_t length = pread(descriptor, text, sizeof(text), 0);
  return length > 0 ? std::string(text, length) : "unknown";
}

}  // namespace

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Take(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return StoreUnavailable(absl::StrCat(path, ": ", std::strerror(errno)));
  // From here on the descriptor is closed whatever happens.
  auto lock = absl::WrapUnique(new FileLock(descriptor));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return StoreInUse(path, OwnerIn(descriptor));
    return StoreUnavailable(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  const std::string owner = absl::StrCat("process ", getpid());
  if (ftruncate(descriptor, 0) != 0 ||
      pwrite(descriptor, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    return StoreUnavailable(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  return lock;
}

FileLock::~FileLock() { close(descriptor_); }

}  // namespace interlock::store
