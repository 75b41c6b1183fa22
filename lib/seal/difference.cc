// The difference of two sets of groups.
#include <map>

#include "lib/seal/corrections.h"
#include "lib/seal/figures.h"

namespace interlock::seal {
namespace {

using Cells = std::map<std::pair<GroupKey, std::string>, Value>;

Cells CellsOf(const std::vector<Group>& groups) {
  Cells cells;
  for (const Group& group : groups) {
    for (const Value& value : group.values) cells[{group.key, value.metric}] = value;
  }
  return cells;
}

Value Added(const Value& a, const Value& b, int sign) {
  Value sum{a.metric.empty() ? b.metric : a.metric, a.is_double || b.is_double, 0, 0.0};
  if (sum.is_double) {
    sum.broken = a.AsDouble() + sign * b.AsDouble();
  } else {
    sum.whole = a.whole + sign * b.whole;
  }
  return sum;
}

}  // namespace

std::vector<Delta> DifferenceOf(const std::vector<Group>& was, const std::vector<Group>& is_now) {
  const Cells before = CellsOf(was);
  const Cells after = CellsOf(is_now);
  std::map<std::pair<GroupKey, std::string>, Delta> deltas;
  for (const auto& [key, value] : before) deltas[key].was = value;
  for (const auto& [key, value] : after) deltas[key].is_now = value;
  std::vector<Delta> differing;
  for (auto& [key, delta] : deltas) {
    if (delta.was && delta.is_now && SameValue(*delta.was, *delta.is_now)) continue;
    const Value none{key.second, false, 0, 0.0};
    delta.key = key.first;
    delta.delta = Added(delta.is_now.value_or(none), delta.was.value_or(none), -1);
    differing.push_back(std::move(delta));
  }
  return differing;
}

std::vector<Value> TotalsOf(const std::vector<Group>& groups) {
  std::map<std::string, Value> totals;
  for (const Group& group : groups) {
    for (const Value& value : group.values) {
      Value& total = totals[value.metric];
      total = Added(total, value, 1);
    }
  }
  std::vector<Value> all;
  for (auto& [metric, total] : totals) {
    total.metric = metric;
    all.push_back(std::move(total));
  }
  return all;
}

}  // namespace interlock::seal
