#include "tests/lib/store/fault_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <mutex>

namespace interlock::store {
namespace {

struct Plan {
  std::mutex mutex;
  FileFault fault = FileFault::kNone;
  int calls_before = 0;
  int count = -1;
  int failed = 0;
};
Plan plan;

// Whether this call fails.
bool Strikes(bool is_sync) {
  std::lock_guard<std::mutex> lock(plan.mutex);
  if (plan.fault == FileFault::kNone || (plan.fault == FileFault::kSyncError) != is_sync) {
    return false;
  }
  if (plan.calls_before > 0) {
    --plan.calls_before;
    return false;
  }
  if (plan.count == 0) return false;
  if (plan.count > 0) --plan.count;
  ++plan.failed;
  return true;
}

int WriteCode() {
  std::lock_guard<std::mutex> lock(plan.mutex);
  if (plan.fault == FileFault::kDiskFull) return SQLITE_FULL;
  return plan.fault == FileFault::kReadOnly ? SQLITE_READONLY : SQLITE_IOERR_WRITE;
}

// A file is this, followed by the real one.
struct File {
  sqlite3_file base;
};
sqlite3_vfs* real_vfs = nullptr;
sqlite3_vfs fault_vfs;

sqlite3_file* Real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1);
}

int Close(sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); }
int Read(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  return Real(f)->pMethods->xRead(Real(f), to, size, at);
}
int Write(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  if (Strikes(false)) return WriteCode();
  return Real(f)->pMethods->xWrite(Real(f), from, size, at);
}
int Truncate(sqlite3_file* f, sqlite3_int64 size) {
  return Real(f)->pMethods->xTruncate(Real(f), size);
}
int Sync(sqlite3_file* f, int flags) {
  if (Strikes(true)) return SQLITE_IOERR_FSYNC;
  return Real(f)->pMethods->xSync(Real(f), flags);
}
int FileSize(sqlite3_file* f, sqlite3_int64* size) {
  return Real(f)->pMethods->xFileSize(Real(f), size);
}
int Lock(sqlite3_file* f, int level) { return Real(f)->pMethods->xLock(Real(f), level); }
int Unlock(sqlite3_file* f, int level) { return Real(f)->pMethods->xUnlock(Real(f), level); }
int CheckReservedLock(sqlite3_file* f, int* result) {
  return Real(f)->pMethods->xCheckReservedLock(Real(f), result);
}
int FileControl(sqlite3_file* f, int op, void* argument) {
  return Real(f)->pMethods->xFileControl(Real(f), op, argument);
}
int SectorSize(sqlite3_file* f) { return Real(f)->pMethods->xSectorSize(Real(f)); }
int DeviceCharacteristics(sqlite3_file* f) {
  return Real(f)->pMethods->xDeviceCharacteristics(Real(f));
}
int ShmMap(sqlite3_file* f, int page, int size, int extend, void volatile** to) {
  return Real(f)->pMethods->xShmMap(Real(f), page, size, extend, to);
}
int ShmLock(sqlite3_file* f, int offset, int n, int flags) {
  return Real(f)->pMethods->xShmLock(Real(f), offset, n, flags);
}
void ShmBarrier(sqlite3_file* f) { Real(f)->pMethods->xShmBarrier(Real(f)); }
int ShmUnmap(sqlite3_file* f, int remove) { return Real(f)->pMethods->xShmUnmap(Real(f), remove); }

const sqlite3_io_methods kMethods = {2,
                                     Close,
                                     Read,
                                     Write,
                                     Truncate,
                                     Sync,
                                     FileSize,
                                     Lock,
                                     Unlock,
                                     CheckReservedLock,
                                     FileControl,
                                     SectorSize,
                                     DeviceCharacteristics,
                                     ShmMap,
                                     ShmLock,
                                     ShmBarrier,
                                     ShmUnmap,
                                     nullptr,
                                     nullptr};

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  const int code = real_vfs->xOpen(real_vfs, name, Real(file), flags, out_flags);
  if (code == SQLITE_OK) file->pMethods = &kMethods;
  return code;
}

}  // namespace

FaultVfs::FaultVfs() {
  real_vfs = sqlite3_vfs_find(nullptr);
  fault_vfs = *real_vfs;
  fault_vfs.zName = "fault";
  fault_vfs.szOsFile = real_vfs->szOsFile + static_cast<int>(sizeof(File));
  fault_vfs.xOpen = Open;
  sqlite3_vfs_register(&fault_vfs, 1);
  Clear();
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(&fault_vfs);
  sqlite3_vfs_register(real_vfs, 1);
}

void FaultVfs::Set(FileFault fault, int calls_before, int count) {
  std::lock_guard<std::mutex> lock(plan.mutex);
  plan.fault = fault;
  plan.calls_before = calls_before;
  plan.count = count;
  plan.failed = 0;
}

int FaultVfs::failed() {
  std::lock_guard<std::mutex> lock(plan.mutex);
  return plan.failed;
}

}  // namespace interlock::store
