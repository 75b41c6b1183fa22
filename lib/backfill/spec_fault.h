// What is wrong with a spec, or worth knowing about it: where, what was found there,
// and what would do. All of a spec's faults are collected; none ends the check.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace interlock::backfill {

struct SpecFault {
  std::string pointer;   // RFC 6901, e.g. "/spec/ioConfig/dropExisting"; "" is the whole
  std::string found;     // what stands there and why it will not do
  std::string would_do;  // what to write instead; "" when nothing can be offered
  // JSON text to put there, where there is one answer; "" takes the member out.
  std::optional<std::string> correction;
  bool path_outside = false;  // a path whose rendering leaves its unit
  bool secret = false;        // what stood there may not be shown
};

// Collects while a spec is read. Not thread-safe; one per check.
class Findings {
 public:
  void Add(SpecFault fault) { faults_.push_back(std::move(fault)); }
  // Accepted as it stands, but told: Druid does something else than people expect.
  void Warn(std::string pointer, std::string found, std::string would_do) {
    warnings_.push_back({std::move(pointer), std::move(found), std::move(would_do), std::nullopt});
  }
  bool clean() const { return faults_.empty(); }
  const std::vector<SpecFault>& faults() const { return faults_; }
  const std::vector<SpecFault>& warnings() const { return warnings_; }

 private:
  std::vector<SpecFault> faults_;
  std::vector<SpecFault> warnings_;
};

}  // namespace interlock::backfill
