#include "lib/druid/segment_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/error_body.h"
#include "lib/druid/json_depth.h"
#include "lib/druid/segment_handler.h"
#include "lib/druid/utf8.h"
#include "rapidjson/error/en.h"
#include "rapidjson/reader.h"

namespace interlock::druid {
namespace {

constexpr unsigned kParseFlags = rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseStopWhenDoneFlag |
                                 rapidjson::kParseNumbersAsStringsFlag;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

void SkipSpaces(absl::string_view* text) {
  size_t at = 0;
  while (at < text->size() && IsSpace((*text)[at])) ++at;
  text->remove_prefix(at);
}

}  // namespace

class SegmentReader::Parser {
 public:
  explicit Parser(Shape shape) : handler_(shape == Shape::kUnusedRows) {}

  enum class Result { kWhole, kCut, kNonsense };

  // One element at the front of `text`; `used` says how long it was. A NUL follows the
  // text: that is where the parser stops, and how it is told that all of it was read.
  // An error before the end is one whatever comes; an error at the end may only be early
  // (even the handler's: it may have seen half of a number).
  Result Parse(absl::string_view text, size_t* used) {
    handler_.Begin();
    DepthLimit<SegmentHandler> limited(handler_, kMaxDepth);
    // This very stream is the one that RapidJSON reads sixteen bytes at a time.
    rapidjson::StringStream stream(text.data());
    const rapidjson::ParseResult result = reader_.Parse<kParseFlags>(stream, limited);
    *used = stream.Tell();
    if (result.IsError()) {
      if (*used == text.size() && !limited.too_deep()) return Result::kCut;
      reason_ = limited.too_deep()          ? absl::StrCat("nested deeper than ", kMaxDepth)
                : handler_.reason().empty() ? rapidjson::GetParseError_En(result.Code())
                                            : handler_.reason();
      return Result::kNonsense;
    }
    if (!IsUtf8(text.substr(0, *used))) {
      reason_ = "text that is no UTF-8";
      return Result::kNonsense;
    }
    reason_ = handler_.Complete() ? "" : handler_.reason();
    return reason_.empty() ? Result::kWhole : Result::kNonsense;
  }

  UnusedSegment& row() { return handler_.row(); }
  const std::string& reason() const { return reason_; }

 private:
  SegmentHandler handler_;
  rapidjson::Reader reader_;
  std::string reason_;
};

SegmentReader::SegmentReader(Shape shape, Sink sink)
    : sink_(std::move(sink)), parser_(std::make_unique<Parser>(shape)) {}

SegmentReader::~SegmentReader() = default;

bool SegmentReader::Fail(const std::string& reason) {
  if (reason_.empty()) reason_ = absl::StrCat("segment list, element ", count_, ": ", reason);
  return false;
}

bool SegmentReader::Feed(absl::string_view piece) {
  if (!reason_.empty()) return false;
  kept_.append(piece.data(), piece.size());
  absl::string_view text = kept_;
  if (!Take(&text, /*last=*/false)) return false;
  kept_.erase(0, kept_.size() - text.size());
  return true;
}

bool SegmentReader::Finish() {
  if (!reason_.empty()) return false;
  absl::string_view text = kept_;
  if (!Take(&text, /*last=*/true)) return false;
  return at_ == At::kEnd || Fail("the reply ends before the array does");
}

bool SegmentReader::Take(absl::string_view* text, bool last) {
  while (true) {
    // Spaces are skipped only where an element's beginning is not being kept.
    SkipSpaces(text);
    if (text->empty()) return true;
    if (at_ == At::kEnd) return Fail("something stands after the array");
    const bool closes = text->front() == ']' && at_ == At::kFirstElement;
    if (at_ == At::kStart || at_ == At::kSeparator || closes) {
      if (!TakePunctuation(text)) return false;
      continue;
    }
    if (text->size() < try_again_at_ && !last) return true;
    const int64_t before = count_;
    if (!TakeElement(text, last)) return false;
    if (count_ == before) return true;  // cut: wait for more
  }
}

bool SegmentReader::TakePunctuation(absl::string_view* text) {
  const char c = text->front();
  text->remove_prefix(1);
  if (at_ == At::kStart && c == '[') {
    at_ = At::kFirstElement;
  } else if (at_ == At::kSeparator && c == ',') {
    at_ = At::kElement;
  } else if (at_ != At::kStart && c == ']') {
    at_ = At::kEnd;
  } else {
    return Fail(absl::StrCat("found ", Shortened(absl::string_view(&c, 1)), " instead of ",
                             at_ == At::kStart ? "an array" : "a comma or the end of the array"));
  }
  return true;
}

bool SegmentReader::TakeElement(absl::string_view* text, bool last) {
  if (text->front() != '{') return Fail("an element that is no object");
  size_t used = 0;
  switch (parser_->Parse(*text, &used)) {
    case Parser::Result::kWhole:
      text->remove_prefix(used);
      try_again_at_ = 0;
      at_ = At::kSeparator;
      ++count_;
      sink_(parser_->row());
      return true;
    case Parser::Result::kCut:
      if (last) return Fail("the reply ends within it");
      if (text->size() > kMaxElementBytes) return Fail("it is larger than any segment");
      // Twice as much before the next attempt, so that an element which comes in crumbs
      // costs no more than reading it twice.
      try_again_at_ = text->size() * 2;
      return true;
    case Parser::Result::kNonsense:
      return Fail(parser_->reason());
  }
  return Fail("no verdict of the parser");
}

}  // namespace interlock::druid
