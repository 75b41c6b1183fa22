#include "lib/audit/verify_chain.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/audit/block.h"
#include "lib/audit/chain.h"
#include "lib/audit/rows.h"

namespace interlock::audit {
namespace {

// Unchained events counted at most: each look at the chain should find few.
constexpr int64_t kMostUnchained = 1'000'000;
constexpr int64_t kBlocksAtOnce = 8;

class Walk {
 public:
  Walk(store::Transaction& tx, int64_t from, int64_t to) : tx_(tx), from_(from), to_(to) {}

  absl::StatusOr<ChainReport> Run();

 private:
  absl::Status Blocks();
  absl::Status OneBlock(const Block& block);
  absl::Status End();
  absl::Status Strangers();
  void Broken(int64_t position, std::string message);
  bool whole() const { return from_ <= checkpoint_.position + 1 && to_ == 0; }

  store::Transaction& tx_;
  const int64_t from_;
  const int64_t to_;
  Checkpoint checkpoint_;
  Head head_;
  int64_t next_ = 0;    // position that has to come
  std::string before_;  // hash before it
  bool started_ = false;
  std::set<int64_t> chained_;  // rows that were walked
  ChainReport report_;
};

void Walk::Broken(int64_t position, std::string message) {
  if (!report_.intact) return;
  report_.intact = false;
  report_.first_broken = position;
  report_.message = std::move(message);
}

absl::Status Walk::OneBlock(const Block& block) {
  if (!started_) {
    // Within the chain the walk trusts the hash that the block begins with; the end shows
    // whether it leads to the head's.
    if (from_ > next_ && block.first_position > next_) {
      next_ = block.first_position;
      before_ = block.hash_before;
      report_.checkpoint = next_ - 1;
    }
    started_ = true;
  }
  if (block.links.empty()) {
    Broken(block.first_position, "the links of its block make no sense");
    return absl::OkStatus();
  }
  if (block.first_position != next_) {
    Broken(next_,
           absl::StrCat("the chain has a gap: after ", next_ - 1, " comes ", block.first_position));
    return absl::OkStatus();
  }
  if (block.hash_before != before_) {
    Broken(next_, "its block does not begin with the hash that the one before ends with");
    return absl::OkStatus();
  }
  auto rows = tx_.Query("SELECT " INTERLOCK_AUDIT_COLUMNS
                        " FROM audit_event WHERE seq >= :lowest AND seq <= :highest ORDER BY seq",
                        {block.lowest_sequence(), block.highest_sequence()});
  if (!rows.ok()) return rows.status();
  std::map<int64_t, RecordedEvent> events;
  for (const store::Row& row : *rows) {
    RecordedEvent event = EventFrom(row);
    events[event.sequence] = std::move(event);
  }
  for (const Link& link : block.links) {
    if (to_ > 0 && next_ > to_) return absl::OkStatus();
    const auto found = events.find(link.sequence);
    if (found == events.end()) {
      Broken(next_, absl::StrCat("the event is missing: row ", link.sequence,
                                 " of audit_event is not there"));
      return absl::OkStatus();
    }
    if (ChainHash(before_, found->second) != link.hash) {
      const RecordedEvent& event = found->second;
      Broken(next_, absl::StrCat("the event was changed: row ", link.sequence,
                                 " of audit_event, which now says ", event.event.method, " by ",
                                 event.event.caller.identity, " at ", event.at.ToString()));
      return absl::OkStatus();
    }
    chained_.insert(link.sequence);
    before_ = link.hash;
    ++next_;
    ++report_.checked;
  }
  return absl::OkStatus();
}

absl::Status Walk::Blocks() {
  int64_t at = std::max(from_, next_);
  while (report_.intact && (to_ == 0 || next_ <= to_)) {
    auto blocks = BlocksFrom(tx_, at, kBlocksAtOnce);
    if (!blocks.ok()) return blocks.status();
    for (const Block& block : *blocks) {
      if (!report_.intact || (to_ > 0 && next_ > to_)) break;
      absl::Status status = OneBlock(block);
      if (!status.ok()) return status;
    }
    if (static_cast<int64_t>(blocks->size()) < kBlocksAtOnce) break;
    at = next_;
  }
  return absl::OkStatus();
}

absl::Status Walk::End() {
  if (!report_.intact || to_ > 0) return absl::OkStatus();
  if (next_ - 1 != head_.position) {
    if (from_ > head_.position) return absl::OkStatus();
    Broken(next_, next_ <= head_.position
                      ? absl::StrCat("the end of the chain is missing: it was chained up to ",
                                     head_.position)
                      : absl::StrCat("the chain goes on past its head, ", head_.position));
  } else if (before_ != head_.hash) {
    Broken(head_.position, "the chain does not end with the hash that its head has");
  }
  return absl::OkStatus();
}

// Rows at or below the highest number chained that no block names, and that are in no gap
// where a late one is still waited for.
absl::Status Walk::Strangers() {
  if (!report_.intact || !whole()) return absl::OkStatus();
  auto rows = tx_.Query(
      "SELECT e.seq FROM audit_event e WHERE e.seq <= :highest AND NOT EXISTS (SELECT 1 FROM"
      " audit_gap g WHERE g.first_seq <= e.seq AND g.last_seq >= e.seq) ORDER BY e.seq",
      {head_.highest_sequence});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    if (chained_.count(row.Int(0)) > 0) continue;
    Broken(next_, absl::StrCat("row ", row.Int(0),
                               " of audit_event is in no link of the chain: it was written in"));
    break;
  }
  return absl::OkStatus();
}

absl::StatusOr<ChainReport> Walk::Run() {
  auto checkpoint = ReadCheckpoint(tx_);
  auto head = ReadHead(tx_);
  auto unchained = CountUnchained(tx_, kMostUnchained);
  for (const absl::Status& status : {checkpoint.status(), head.status(), unchained.status()}) {
    if (!status.ok()) return status;
  }
  checkpoint_ = *std::move(checkpoint);
  head_ = *std::move(head);
  report_.unchained = *unchained;
  report_.checkpoint = checkpoint_.position;
  next_ = checkpoint_.position + 1;
  before_ = checkpoint_.hash;
  for (absl::Status (Walk::*step)() : {&Walk::Blocks, &Walk::End, &Walk::Strangers}) {
    absl::Status status = (this->*step)();
    if (!status.ok()) return status;
  }
  report_.hash = before_;
  return report_;
}

}  // namespace

absl::StatusOr<ChainReport> VerifyChain(store::Transaction& tx, int64_t from, int64_t to) {
  return Walk(tx, from, to).Run();
}

}  // namespace interlock::audit
