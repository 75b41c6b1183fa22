#include "lib/backfill/json_document.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace interlock::backfill {
namespace {

// Without recursion while parsing, exact doubles, and only well-formed UTF-8.
constexpr unsigned kParseFlags = rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseValidateEncodingFlag |
                                 rapidjson::kParseFullPrecisionFlag;

// Stands between the reader and the document: counts depth, and keeps, per open object,
// the members seen and, per open array, the index reached, for the pointers of faults.
class Watcher {
 public:
  using Ch = char;

  Watcher(const rapidjson::MemoryStream& stream, rapidjson::Document* document, Findings* findings)
      : stream_(stream), document_(document), findings_(findings) {}

  bool too_deep() const { return too_deep_; }

  bool Null() { return Value() && document_->Null(); }
  bool Bool(bool value) { return Value() && document_->Bool(value); }
  bool Int(int value) { return Value() && document_->Int(value); }
  bool Uint(unsigned value) { return Value() && document_->Uint(value); }
  bool Int64(int64_t value) { return Value() && document_->Int64(value); }
  bool Uint64(uint64_t value) { return Value() && document_->Uint64(value); }
  bool Double(double value) {
    Value();
    if (JustRead().find_first_of(".eE") == absl::string_view::npos) {
      findings_->Add(
          {Pointer(),
           absl::StrCat("is ", JustRead().substr(0, kShownDigits),
                        JustRead().size() > kShownDigits ? "…" : "",
                        ", an integer of more than 64 bits: it would reach Druid rounded"),
           "write it as text, or as a number of at most 64 bits", std::nullopt});
    }
    return document_->Double(value);
  }
  bool RawNumber(const Ch* text, rapidjson::SizeType size, bool copy) {
    return Value() && document_->RawNumber(text, size, copy);
  }
  bool String(const Ch* text, rapidjson::SizeType size, bool copy) {
    return Value() && document_->String(text, size, copy);
  }
  bool StartObject() { return Value() && Open(true) && document_->StartObject(); }
  bool Key(const Ch* text, rapidjson::SizeType size, bool copy) {
    Level& level = levels_.back();
    level.member.assign(text, size);
    if (!level.members.insert(level.member).second) {
      findings_->Add({Pointer(),
                      "stands twice in its object; Druid would take the last one silently",
                      "keep one of them", std::nullopt});
    }
    return document_->Key(text, size, copy);
  }
  bool EndObject(rapidjson::SizeType count) {
    levels_.pop_back();
    return document_->EndObject(count);
  }
  bool StartArray() { return Value() && Open(false) && document_->StartArray(); }
  bool EndArray(rapidjson::SizeType count) {
    levels_.pop_back();
    return document_->EndArray(count);
  }

 private:
  struct Level {
    bool object = false;
    std::string member;
    std::set<std::string> members;
    size_t next = 0;  // of an array: the index of the value to come
  };

  static constexpr size_t kShownDigits = 40;

  // The number at which the stream stands: before or after it, as the reader works on a copy or
  // not.
  absl::string_view JustRead() const {
    constexpr char kOfNumbers[] = "0123456789+-.eE";
    const absl::string_view text(stream_.begin_, stream_.size_);
    const size_t begin = text.substr(0, stream_.Tell()).find_last_not_of(kOfNumbers) + 1;
    return text.substr(begin, text.find_first_not_of(kOfNumbers, stream_.Tell()) - begin);
  }

  // A value comes: in an array it is the next element.
  bool Value() {
    if (!levels_.empty() && !levels_.back().object) ++levels_.back().next;
    return true;
  }

  bool Open(bool object) {
    if (levels_.size() >= size_t{kMaxSpecDepth}) {
      too_deep_ = true;
      return false;
    }
    levels_.emplace_back();
    levels_.back().object = object;
    return true;
  }

  std::string Pointer() const {
    std::string pointer;
    for (const Level& level : levels_) {
      pointer =
          level.object ? PointerTo(pointer, level.member) : PointerTo(pointer, level.next - 1);
    }
    return pointer;
  }

  const rapidjson::MemoryStream& stream_;
  rapidjson::Document* document_;
  Findings* findings_;
  std::vector<Level> levels_;
  bool too_deep_ = false;
};

// What Document::Populate wants: something that writes events into the document.
struct Generator {
  rapidjson::MemoryStream* stream;
  rapidjson::Reader* reader;
  Watcher* watcher;
  rapidjson::ParseResult result;

  bool operator()(rapidjson::Document&) {
    result = reader->Parse<kParseFlags>(*stream, *watcher);
    return !result.IsError();
  }
};

}  // namespace

bool ParseJsonObject(const std::string& text, rapidjson::Document* document, Findings* findings) {
  if (text.size() > kMaxSpecBytes) {
    findings->Add({"", absl::StrCat("is ", text.size(), " bytes long, of at most ", kMaxSpecBytes),
                   "put large inline data into files", std::nullopt});
    return false;
  }
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Watcher watcher(stream, document, findings);
  Generator generator{&stream, &reader, &watcher, {}};
  document->Populate(generator);
  if (watcher.too_deep()) {
    findings->Add(
        {"", absl::StrCat("is nested more than ", kMaxSpecDepth, " levels deep"), "", {}});
    return false;
  }
  if (generator.result.IsError()) {
    findings->Add({"",
                   absl::StrCat("is not JSON: ", GetParseError_En(generator.result.Code()),
                                " (byte ", generator.result.Offset(), ")"),
                   "", std::nullopt});
    return false;
  }
  if (!document->IsObject()) {
    findings->Add({"", "is no JSON object", "send one task of type index_parallel", std::nullopt});
    return false;
  }
  return true;
}

std::string WriteJson(const rapidjson::Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string PointerTo(absl::string_view pointer, absl::string_view member) {
  return absl::StrCat(pointer, "/", absl::StrReplaceAll(member, {{"~", "~0"}, {"/", "~1"}}));
}

std::string PointerTo(absl::string_view pointer, size_t index) {
  return absl::StrCat(pointer, "/", index);
}

std::string JsonQuoted(absl::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace interlock::backfill
