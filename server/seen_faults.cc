#include "server/seen_faults.h"

namespace interlock::server {

void SeenFaults::Note(std::set<Interval>& faulty, const verify::PartitionVerdict& verdict,
                      verify::Verdict fault) {
  if (verify::Has(verdict.findings, fault)) {
    faulty.insert(verdict.partition);
  } else if (!verdict.undetermined()) {
    faulty.erase(verdict.partition);
  }
}

void SeenFaults::Saw(const std::string& datasource,
                     const std::vector<verify::PartitionVerdict>& verdicts) {
  MutexLock lock(mutex_);
  auto& double_versions = double_versions_[datasource];
  auto& duplicate_rows = duplicate_rows_[datasource];
  for (const auto& verdict : verdicts) {
    Note(double_versions, verdict, verify::Verdict::kDoubleVersion);
    Note(duplicate_rows, verdict, verify::Verdict::kDuplicateRows);
  }
  const prometheus::Labels labels = {{"datasource", datasource}};
  metrics_.double_version_intervals.Add(labels).Set(static_cast<double>(double_versions.size()));
  metrics_.duplicate_row_partitions.Add(labels).Set(static_cast<double>(duplicate_rows.size()));
}

}  // namespace interlock::server
