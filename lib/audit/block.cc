#include "lib/audit/block.h"

#include <openssl/sha.h>

#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace interlock::audit {
namespace {

constexpr size_t kHashDigits = size_t{2} * SHA256_DIGEST_LENGTH;
// Blocks in which a row is looked for: on one server its block is the first that reaches
// it; where several share a database, late rows make blocks overlap by a little.
constexpr int64_t kBlocksLooked = 8;

std::string PackLinks(const std::vector<Link>& links) {
  std::string text;
  text.reserve(links.size() * (kHashDigits + 12));
  for (const Link& link : links) absl::StrAppend(&text, link.sequence, ":", link.hash, " ");
  return text;
}

std::vector<Link> UnpackLinks(const std::string& text) {
  std::vector<Link> links;
  for (const absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t colon = part.find(':');
    Link link;
    if (colon == absl::string_view::npos || part.size() - colon - 1 != kHashDigits ||
        !absl::SimpleAtoi(part.substr(0, colon), &link.sequence)) {
      return {};
    }
    link.hash = std::string(part.substr(colon + 1));
    links.push_back(std::move(link));
  }
  return links;
}

Block BlockFrom(const store::Row& row) {
  Block block;
  block.first_position = row.Int(0);
  block.hash_before = row.Text(1);
  block.at = row.At(2);
  block.links = UnpackLinks(row.Text(3));
  return block;
}

// With its length before it, so that no two rows spell the same text.
void Append(std::string& out, const std::string& field) {
  absl::StrAppend(&out, field.size(), ":", field);
}

}  // namespace

int64_t Block::lowest_sequence() const {
  int64_t lowest = links.front().sequence;
  for (const Link& link : links) lowest = std::min(lowest, link.sequence);
  return lowest;
}

int64_t Block::highest_sequence() const {
  int64_t highest = 0;
  for (const Link& link : links) highest = std::max(highest, link.sequence);
  return highest;
}

std::string ChainHash(const std::string& before, const RecordedEvent& recorded) {
  const Event& event = recorded.event;
  std::string text;
  Append(text, before);
  absl::StrAppend(&text, recorded.sequence, "@", recorded.at.millis(), ";");
  for (const std::string* field :
       {&event.caller.identity, &event.caller.request_id, &event.caller.reason, &event.caller.peer,
        &event.method, &event.datasource, &event.resource_type, &event.subject, &event.result,
        &event.before, &event.after}) {
    Append(text, *field);
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

absl::Status InsertBlock(store::Transaction& tx, const Block& block) {
  return tx
      .Execute(
          "INSERT INTO audit_block (first_position, last_position, lowest_seq, highest_seq,"
          " hash_before, hash_after, at_ms, links) VALUES (:first, :last, :lowest, :highest,"
          " :before, :after, :at, :links)",
          {block.first_position, block.last_position(), block.lowest_sequence(),
           block.highest_sequence(), block.hash_before, block.hash_after(), block.at,
           PackLinks(block.links)})
      .status();
}

absl::StatusOr<std::vector<Block>> BlocksFrom(store::Transaction& tx, int64_t position,
                                              int64_t most) {
  auto rows = tx.Query(
      "SELECT first_position, hash_before, at_ms, links FROM audit_block WHERE first_position >="
      " COALESCE((SELECT MAX(first_position) FROM audit_block WHERE first_position <= :position),"
      " 0) AND last_position >= :position ORDER BY first_position LIMIT :most",
      {position, position, most});
  if (!rows.ok()) return rows.status();
  std::vector<Block> blocks;
  for (const store::Row& row : *rows) blocks.push_back(BlockFrom(row));
  return blocks;
}

absl::Status FillPlaces(store::Transaction& tx, std::vector<RecordedEvent>& events) {
  // Neighbours on a page are neighbours in a block.
  std::map<int64_t, std::pair<int64_t, std::string>> places;
  for (RecordedEvent& event : events) {
    auto place = places.find(event.sequence);
    if (place == places.end()) {
      auto rows = tx.Query(
          "SELECT first_position, hash_before, at_ms, links FROM audit_block"
          " WHERE highest_seq >= :seq ORDER BY highest_seq LIMIT :most",
          {event.sequence, kBlocksLooked});
      if (!rows.ok()) return rows.status();
      for (const store::Row& row : *rows) {
        const Block block = BlockFrom(row);
        for (size_t i = 0; i < block.links.size(); ++i) {
          places[block.links[i].sequence] = {block.first_position + static_cast<int64_t>(i),
                                             block.links[i].hash};
        }
        if ((place = places.find(event.sequence)) != places.end()) break;
      }
    }
    if (place == places.end()) continue;
    event.position = place->second.first;
    event.chain_hash = place->second.second;
  }
  return absl::OkStatus();
}

absl::StatusOr<Head> ReadHead(store::Transaction& tx) {
  auto rows = tx.Query("SELECT position, hash, highest_seq FROM audit_head WHERE id = 1", {});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return Head();  // somebody took it away: the walk says so
  return Head{rows->front().Int(0), rows->front().Text(1), rows->front().Int(2)};
}

absl::StatusOr<Checkpoint> ReadCheckpoint(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT position, hash, highest_seq FROM audit_checkpoint ORDER BY position DESC LIMIT 1",
      {});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return Checkpoint();
  return Checkpoint{rows->front().Int(0), rows->front().Text(1), rows->front().Int(2)};
}

}  // namespace interlock::audit
