// Looks whether a segment's file is still in deep storage. Druid's kill deletes the
// metadata row before the file (case 53), so "rows gone" and "files gone" are two things.
//
// Only absence after presence says anything: a probe that never saw the file may look in
// the wrong place, so its word for "gone" is worth nothing then.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace interlock::drop {

class StorageProbe {
 public:
  virtual ~StorageProbe() = default;
  // Whether the file that `load_spec` (JSON) names is there; nothing where it is of a
  // kind that this probe cannot look at, or looking failed.
  virtual std::optional<bool> Exists(const std::string& load_spec) const = 0;
};

// loadSpecs of type "local" whose path lies in one of the given folders: those are known
// to be seen by this process as Druid sees them.
class LocalProbe : public StorageProbe {
 public:
  explicit LocalProbe(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  std::optional<bool> Exists(const std::string& load_spec) const override;

 private:
  const std::vector<std::string> folders_;
};

}  // namespace interlock::drop
