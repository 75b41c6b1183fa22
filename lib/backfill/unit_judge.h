// The judge of one unit, for judge.cc and judge_rows.cc alone.
//
// Threads: one judge, one thread.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/backfill/judge.h"
#include "lib/druid/timeline.h"
#include "lib/verify/attribution.h"

namespace interlock::backfill {

class UnitJudge {
 public:
  explicit UnitJudge(const Evidence& evidence)
      : evidence_(evidence), timeline_(druid::Timeline::Of(evidence.after.used)) {}

  UnitJudgement Run();

 private:
  void JudgePartition(const Interval& partition);
  void JudgeOurs(const verify::Attribution& told, const PartitionBefore& before);
  void JudgeNothingNew(const PartitionBefore& before);
  void JudgeFindings(const verify::PartitionVerdict& verdict, const PartitionBefore& before);
  PartitionBefore BeforeOf(const Interval& partition) const;
  verify::Attribution AttributionOf(const Interval& partition) const;

  // The unit's observation, from its partitions' states.
  Seen Overall();
  Seen WrongAsSeen();
  Seen NothingWasOurs();
  // Each marks the unit wrong, or as not yet to be told. Those of rows: judge_rows.cc.
  void CompareRows();
  void CheckExpected();
  void CheckTwin();
  void CompareTwin(const druid::RowSums& own, const druid::RowSums& other);
  void CheckUnparseable();
  void CheckNeighbours();
  void Compare(const std::string& measure, double expected, double found);
  void Mismatch(const std::string& reason, const std::string& message);
  void Wrong(const std::string& reason, const std::string& message);
  void Note(const std::string& note) {
    for (PartitionJudgement& one : result_.partitions) one.proof.notes.push_back(note);
  }
  void FillProofs();
  void FillFindings();
  void Total();

  bool Any(State state) const {
    return std::any_of(result_.partitions.begin(), result_.partitions.end(),
                       [state](const auto& one) { return one.state == state; });
  }
  bool loaded() const { return evidence_.after.load.unavailable_segments == 0; }
  double Found(const std::string& metric) const;

  const Evidence& evidence_;
  const druid::Timeline timeline_;
  std::vector<std::string> own_versions_;
  bool not_yet_ = false;
  bool wrong_ = false;
  bool twin_untold_ = false;
  std::optional<double> rows_expected_, rows_found_;
  std::vector<Compared> compared_;
  UnitJudgement result_;
};

}  // namespace interlock::backfill
