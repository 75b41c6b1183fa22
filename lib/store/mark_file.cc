#include "lib/store/mark_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

constexpr char kKind[] = "interlock-mark";
constexpr char kVersion[] = "1";
constexpr size_t kLength = 256;  // the line is padded to it, so that none is left of a longer one

std::string TextOf(const KnownPast& past) {
  std::string text =
      absl::StrCat(kKind, " ", kVersion, " ", past.incarnation, " ", past.boot_id,
                   past.closed ? " closed " : " open ", past.newest, " ", past.mark.millis(), " .");
  text.resize(kLength - 1, ' ');
  text += '\n';
  return text;
}

std::optional<KnownPast> PastOf(absl::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  constexpr size_t kWords = 8;
  KnownPast past;
  int64_t mark = 0;
  if (words.size() < kWords || words[0] != kKind || words[1] != kVersion || words[7] != "." ||
      !absl::SimpleAtoi(words[5], &past.newest) || !absl::SimpleAtoi(words[6], &mark)) {
    return std::nullopt;
  }
  past.incarnation = words[2];
  past.boot_id = words[3];
  past.closed = words[4] == "closed";
  past.mark = Instant::FromMillis(mark);
  return past;
}

absl::Status Failed(const std::string& path) {
  return StoreUnavailable(absl::StrCat(path, ": ", std::strerror(errno)));
}

// A new file's name is on the disk only with its folder.
absl::Status SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return Failed(folder);
  absl::Status status = fsync(descriptor) == 0 ? absl::OkStatus() : Failed(folder);
  close(descriptor);
  return status;
}

}  // namespace

absl::StatusOr<std::optional<KnownPast>> MarkFile::Read(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return std::nullopt;
  if (descriptor < 0) return Failed(path);
  char text[kLength];
  const ssize_t length = pread(descriptor, text, kLength, 0);
  const absl::Status status = length < 0 ? Failed(path) : absl::OkStatus();
  close(descriptor);
  if (!status.ok()) return status;
  return PastOf(absl::string_view(text, static_cast<size_t>(length)));
}

absl::StatusOr<std::unique_ptr<MarkFile>> MarkFile::Open(const std::string& path, KnownPast now,
                                                         bool durable) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return Failed(path);
  // From here on the descriptor is closed whatever happens.
  auto file = absl::WrapUnique(new MarkFile(descriptor, path, std::move(now), durable));
  absl::Status status = file->Write(true);
  if (status.ok() && durable) status = SyncFolderOf(path);
  if (!status.ok()) return status;
  return file;
}

MarkFile::MarkFile(int descriptor, std::string path, KnownPast now, bool durable)
    : descriptor_(descriptor), path_(std::move(path)), durable_(durable), now_(std::move(now)) {}

MarkFile::~MarkFile() {
  now_.closed = true;
  Write(true).IgnoreError();  // then the next start takes it for a crash
  close(descriptor_);
}

absl::Status MarkFile::Note(int64_t newest, std::optional<Instant> mark) {
  if (newest == now_.newest && !mark) return absl::OkStatus();
  now_.newest = newest;
  if (mark) now_.mark = *mark;
  const absl::Status status = Write(mark.has_value());
  return status.ok() ? status : CommitUnknown(status.message());
}

absl::Status MarkFile::Write(bool sync) {
  const std::string text = TextOf(now_);
  if (pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return Failed(path_);
  }
  return !sync || !durable_ || fdatasync(descriptor_) == 0 ? absl::OkStatus() : Failed(path_);
}

}  // namespace interlock::store
