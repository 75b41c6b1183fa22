// A stretch of the chain: which events it links, in which order, with which hashes.
//
// The hash of an event covers every column of its row and the hash before it, so that a
// change, a removal or another order shows in all hashes after it. Blocks exist because one
// row for five hundred links costs the store's writer a hundredth of five hundred rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/audit.h"

namespace interlock::audit {

struct Link {
  int64_t sequence = 0;  // of the event's row
  std::string hash;      // 64 hexadecimal digits
};

struct Block {
  int64_t first_position = 0;
  std::string hash_before;  // "" at the very beginning
  std::vector<Link> links;  // not empty; the first has first_position
  Instant at;               // when it was chained

  int64_t last_position() const { return first_position + static_cast<int64_t>(links.size()) - 1; }
  const std::string& hash_after() const { return links.back().hash; }
  int64_t lowest_sequence() const;
  int64_t highest_sequence() const;
};

// SHA-256 over `before` and every column of the event, hexadecimal.
std::string ChainHash(const std::string& before, const RecordedEvent& event);

absl::Status InsertBlock(store::Transaction& tx, const Block& block);
// Blocks that end at or after `position`, in order; at most `most`. A block whose links
// make no sense has none.
absl::StatusOr<std::vector<Block>> BlocksFrom(store::Transaction& tx, int64_t position,
                                              int64_t most);
// Fills in position and chain_hash of those events that are chained.
absl::Status FillPlaces(store::Transaction& tx, std::vector<RecordedEvent>& events);

// Where the chain ends.
struct Head {
  int64_t position = 0;
  std::string hash;
  int64_t highest_sequence = 0;
};
absl::StatusOr<Head> ReadHead(store::Transaction& tx);

// Where it began anew after retention: everything up to `position` is gone.
struct Checkpoint {
  int64_t position = 0;
  std::string hash;
  int64_t highest_sequence = 0;
};
// The newest; position 0 where there is none.
absl::StatusOr<Checkpoint> ReadCheckpoint(store::Transaction& tx);

}  // namespace interlock::audit
