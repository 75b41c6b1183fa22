#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "lib/store/facts.h"
#include "lib/store/sqlite.h"
#include "lib/store/sqlite_connection.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

namespace fs = std::filesystem;

absl::Status SyncPath(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (synced) return absl::OkStatus();
  return StoreUnavailable(absl::StrCat(path, ": ", std::strerror(error)));
}

// Gives a finished file its name, so that a name stands only for a whole file.
absl::Status Publish(const std::string& partial, const std::string& path) {
  absl::Status status = SyncPath(partial);
  if (!status.ok()) return status;
  // A link, unlike a rename, never replaces what is there.
  if (link(partial.c_str(), path.c_str()) != 0) {
    return errno == EEXIST ? FileExists(path)
                           : StoreUnavailable(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  const std::string folder = fs::path(path).parent_path().string();
  return SyncPath(folder.empty() ? "." : folder);
}

// Writes `path` by way of `write`, which is handed the name to write to.
template <class Write>
absl::Status WriteWhole(const std::string& path, Write write) {
  if (fs::exists(path)) return FileExists(path);
  const std::string folder = fs::absolute(path).parent_path().string();
  if (!fs::is_directory(folder)) {
    return StoreUnavailable(absl::StrCat(path, ": there is no folder ", folder, "; make it first"));
  }
  const std::string partial = absl::StrCat(path, ".partial-", getpid());
  std::error_code ignored;
  fs::remove(partial, ignored);
  absl::Status status = write(partial);
  if (status.ok()) status = Publish(partial, path);
  fs::remove(partial, ignored);
  return status;
}

absl::Status CopyConsistently(const std::string& from, const std::string& to) {
  auto source = OpenSqliteAside(from, true);
  if (!source.ok()) return source.status();
  return (*source)->Execute("VACUUM INTO :file", {to}).status();
}

absl::Status MarkAsBackup(const std::string& path) {
  auto copy = OpenSqliteAside(path, true);
  if (!copy.ok()) return copy.status();
  return WriteIsBackup(**copy, true);
}

absl::StatusOr<bool> IsBackup(const std::string& path) {
  auto file = OpenSqliteReader(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<Facts> facts = ReadFacts(**file);
  if (!facts.ok()) return facts.status();
  return facts->is_backup;
}

}  // namespace

absl::Status BackupSqlite(const std::string& path, const std::string& to) {
  if (!fs::exists(path)) return StoreUnavailable(absl::StrCat(path, ": no such file"));
  return WriteWhole(to, [&path](const std::string& partial) {
    absl::Status status = CopyConsistently(path, partial);
    return status.ok() ? MarkAsBackup(partial) : status;
  });
}

absl::Status RestoreSqlite(const std::string& backup, const std::string& path) {
  if (!fs::exists(backup)) return StoreUnavailable(absl::StrCat(backup, ": no such file"));
  absl::StatusOr<bool> is_backup = IsBackup(backup);
  if (!is_backup.ok()) return is_backup.status();
  if (!*is_backup) return NotABackup(backup);
  return WriteWhole(path, [&backup](const std::string& partial) {
    std::error_code error;
    fs::copy_file(backup, partial, error);
    return error ? StoreUnavailable(absl::StrCat(backup, ": ", error.message())) : absl::OkStatus();
  });
}

}  // namespace interlock::store
