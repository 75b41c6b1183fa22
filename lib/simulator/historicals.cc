#include "lib/simulator/historicals.h"

#include <algorithm>
#include <iterator>

namespace interlock::simulator {

void Historicals::Assign(const std::string& datasource, Moment now, Instant wall) {
  const std::vector<Slice>& visible = table_.VisibleUsed(datasource);
  for (Segment* segment : table_.All(datasource)) {
    const bool wanted =
        segment->used && !Overshadowed(*segment, visible) && rules_.Loads(*segment, wall);
    if (wanted) {
      segment->drop_due.reset();
      if (!segment->announced && !segment->load_due) segment->load_due = now + load_delay_;
    } else {
      segment->load_due.reset();
      if (segment->announced && !segment->drop_due) {
        segment->drop_due = std::max(now + drop_delay_, done_until_ + Moment(1));
      }
    }
    if (segment->load_due || segment->drop_due) pending_.insert(datasource);
  }
}

std::optional<Moment> Historicals::NextDue() const {
  std::optional<Moment> next;
  const auto consider = [&](Moment due) {
    if (!next || due < *next) next = due;
  };
  for (const std::string& datasource : pending_) {
    for (const Segment* segment : table_.All(datasource)) {
      if (!paused_ && segment->load_due) consider(*segment->load_due);
      if (segment->drop_due && *segment->drop_due > done_until_) consider(*segment->drop_due);
    }
  }
  return next;
}

void Historicals::DoDue(Moment now) {
  for (auto datasource = pending_.begin(); datasource != pending_.end();) {
    LoadDue(*datasource, now);
    DropDue(*datasource, now);
    datasource = HasDue(*datasource) ? std::next(datasource) : pending_.erase(datasource);
  }
  done_until_ = now;
}

void Historicals::LoadDue(const std::string& datasource, Moment now) {
  if (paused_) return;
  for (Segment* segment : table_.All(datasource)) {
    if (!segment->load_due || *segment->load_due > now) continue;
    segment->load_due.reset();
    segment->announced = true;
  }
}

void Historicals::DropDue(const std::string& datasource, Moment now) {
  std::optional<std::vector<Slice>> served;
  for (Segment* segment : table_.All(datasource)) {
    if (!segment->drop_due || *segment->drop_due > now) continue;
    if (!served) served = Served(datasource);
    if (!MayDrop(*segment, *served)) continue;
    segment->drop_due.reset();
    segment->announced = false;
  }
}

// What is hidden goes only once what hides it is served: queries never lose rows by a
// replace.
bool Historicals::MayDrop(const Segment& segment, const std::vector<Slice>& served) const {
  const bool hidden = segment.used && Overshadowed(segment, table_.VisibleUsed(segment.datasource));
  return !hidden || Overshadowed(segment, served);
}

bool Historicals::HasDue(const std::string& datasource) const {
  for (const Segment* segment : table_.All(datasource)) {
    if (segment->load_due || segment->drop_due) return true;
  }
  return false;
}

std::vector<const Segment*> Historicals::Announced(const std::string& datasource) const {
  std::vector<const Segment*> announced;
  for (const Segment* segment : table_.All(datasource)) {
    if (segment->announced) announced.push_back(segment);
  }
  return announced;
}

std::vector<Slice> Historicals::Served(const std::string& datasource) const {
  return VisibleSlices(Announced(datasource));
}

}  // namespace interlock::simulator
