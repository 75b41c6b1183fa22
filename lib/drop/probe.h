// Looks whether segments' files are still in deep storage. Druid's kill deletes the
// metadata row before the file (case 53), so "rows gone" and "files gone" are two things
// (case 59).
//
// Only absence after presence says anything: a probe that never saw the file may look in
// the wrong place, so its word for "gone" is worth nothing then.
//
// Threads: any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace interlock::drop {

class StorageProbe {
 public:
  virtual ~StorageProbe() = default;
  // Of each loadSpec (JSON) whether the file that it names is there; nothing where it is of
  // a kind that this probe cannot look at, or looking failed.
  virtual std::vector<std::optional<bool>> Look(
      const std::vector<std::string>& load_specs) const = 0;

  std::optional<bool> Exists(const std::string& load_spec) const {
    return Look({load_spec}).front();
  }
};

// loadSpecs of type "local" whose path lies in one of the given folders: those are known
// to be seen by this process as Druid sees them.
class LocalProbe : public StorageProbe {
 public:
  explicit LocalProbe(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  std::vector<std::optional<bool>> Look(const std::vector<std::string>& load_specs) const override;

 private:
  std::optional<bool> LookAtOne(const std::string& load_spec) const;

  const std::vector<std::string> folders_;
};

// Several, for data that lies in several places: the first that has an answer counts.
class ManyProbes : public StorageProbe {
 public:
  explicit ManyProbes(std::vector<std::shared_ptr<const StorageProbe>> probes)
      : probes_(std::move(probes)) {}
  std::vector<std::optional<bool>> Look(const std::vector<std::string>& load_specs) const override;

 private:
  const std::vector<std::shared_ptr<const StorageProbe>> probes_;
};

}  // namespace interlock::drop
