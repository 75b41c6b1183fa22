#include "lib/sweep/unloaded.h"

#include <utility>

namespace interlock::sweep {
namespace {

using druid::Slice;

// Questions that find out which partitions are not loaded.
constexpr int kMaxLoadLooks = 100;

class Unloaded {
 public:
  Unloaded(druid::Cluster& cluster, const std::string& datasource, const druid::Timeline& timeline,
           const std::vector<Interval>& partitions)
      : cluster_(cluster),
        datasource_(datasource),
        timeline_(timeline),
        partitions_(partitions),
        counts_(partitions.size()) {}

  std::vector<std::optional<int64_t>> Find(int64_t unavailable) {
    if (!partitions_.empty()) Spread(0, partitions_.size(), unavailable);
    return std::move(counts_);
  }

 private:
  void Spread(size_t begin, size_t end, int64_t left);
  void Ask(size_t begin, size_t end);
  int64_t SeenIn(size_t partition) const {
    int64_t seen = 0;
    for (const Slice& slice : timeline_.Visible(partitions_[partition])) {
      seen += static_cast<int64_t>(slice.segments.size());
    }
    return seen;
  }

  druid::Cluster& cluster_;
  const std::string& datasource_;
  const druid::Timeline& timeline_;
  const std::vector<Interval>& partitions_;
  std::vector<std::optional<int64_t>> counts_;
  int asks_ = kMaxLoadLooks;
};

void Unloaded::Spread(size_t begin, size_t end, int64_t left) {
  if (left == 0 || end - begin == 1) {
    for (size_t i = begin; i < end; ++i) counts_[i] = left;
    return;
  }
  int64_t seen = 0;
  for (size_t i = begin; i < end; ++i) seen += SeenIn(i);
  if (left >= seen) {  // none of it is loaded
    for (size_t i = begin; i < end; ++i) counts_[i] = SeenIn(i);
    return;
  }
  const size_t middle = begin + (end - begin) / 2;
  Ask(begin, middle);
  Ask(middle, end);
}

void Unloaded::Ask(size_t begin, size_t end) {
  if (asks_-- <= 0) return;
  const Interval span = Interval::Between(partitions_[begin].start(), partitions_[end - 1].end());
  const auto answer = cluster_.GetLoadStatus(datasource_, span, false);
  if (answer.done()) Spread(begin, end, answer.value().unavailable_segments);
}

}  // namespace

std::vector<std::optional<int64_t>> FindUnloaded(druid::Cluster& cluster,
                                                 const std::string& datasource,
                                                 const druid::Timeline& timeline,
                                                 const std::vector<Interval>& partitions,
                                                 int64_t unavailable) {
  return Unloaded(cluster, datasource, timeline, partitions).Find(unavailable);
}

}  // namespace interlock::sweep
