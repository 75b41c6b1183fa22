#include "lib/druid/id_list_reader.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/error_body.h"
#include "lib/druid/utf8.h"
#include "lib/time/fnv.h"

namespace interlock::druid {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Of an id's text, up to what means something else.
size_t PlainBytes(absl::string_view text) {
  size_t plain = 0;
  while (plain < text.size() && text[plain] != '"' && text[plain] != '\\' &&
         static_cast<unsigned char>(text[plain]) >= 0x20) {
    ++plain;
  }
  return plain;
}

}  // namespace

bool IdListReader::Fail(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
  return false;
}

bool IdListReader::Feed(absl::string_view piece) {
  if (!reason_.empty()) return false;
  while (!piece.empty()) {
    if (at_ == At::kInside) {
      const size_t plain = PlainBytes(piece);
      id_.append(piece.data(), plain);
      piece.remove_prefix(plain);
      if (id_.size() > kMaxIdBytes) return Fail("an id that does not end");
      if (piece.empty()) break;
    }
    if (!Take(piece.front())) return false;
    piece.remove_prefix(1);
  }
  return true;
}

bool IdListReader::Take(char c) {
  switch (at_) {
    case At::kInside:
      if (c == '"') return EndOfId();
      if (c == '\\') {
        at_ = At::kEscape;
        return true;
      }
      return Fail("a control character in an id");
    case At::kEscape:
      // All that an id can need; of others Druid makes no names.
      if (c != '"' && c != '\\' && c != '/') return Fail("an escape in an id");
      id_ += c;
      at_ = At::kInside;
      return true;
    default:
      break;
  }
  if (IsSpace(c)) return true;
  if (at_ == At::kStart && c == '[') {
    at_ = At::kFirst;
  } else if ((at_ == At::kFirst || at_ == At::kElement) && c == '"') {
    id_.clear();
    at_ = At::kInside;
  } else if (at_ == At::kSeparator && c == ',') {
    at_ = At::kElement;
  } else if ((at_ == At::kFirst || at_ == At::kSeparator) && c == ']') {
    at_ = At::kEnd;
  } else {
    return Fail(absl::StrCat("'", std::string(1, c), "' where a list of ids goes on"));
  }
  return true;
}

bool IdListReader::EndOfId() {
  at_ = At::kSeparator;
  absl::string_view rest = id_;
  if (!IsUtf8(rest)) return Fail("an id that is no UTF-8");
  if (!absl::StartsWith(rest, prefix_)) {
    return Fail(absl::StrCat("an id of another datasource: ", Shortened(id_)));
  }
  rest.remove_prefix(prefix_.size());
  const size_t first = rest.find('_');
  const size_t second = first == absl::string_view::npos ? first : rest.find('_', first + 1);
  if (second == absl::string_view::npos) {
    return Fail(absl::StrCat("no segment's id: ", Shortened(id_)));
  }
  const auto start = Instant::Parse(rest.substr(0, first));
  const auto end = Instant::Parse(rest.substr(first + 1, second - first - 1));
  if (!start.ok() || !end.ok()) return Fail(absl::StrCat("no segment's id: ", Shortened(id_)));
  const auto interval = Interval::Of(*start, *end);
  if (!interval.ok()) return Fail(absl::StrCat("no segment's id: ", Shortened(id_)));
  IntervalContent& content = contents_[*interval];
  ++content.segments;
  content.digest += Fnv1a64(id_);
  return true;
}

bool IdListReader::Finish() {
  if (!reason_.empty()) return false;
  return at_ == At::kEnd || Fail("a list of ids that ends in the middle");
}

}  // namespace interlock::druid
