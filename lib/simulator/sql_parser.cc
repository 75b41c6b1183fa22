#include "lib/simulator/sql_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"

namespace interlock::simulator {
namespace {

struct Token {
  enum class Kind { kWord, kName, kText, kNumber, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // words in upper case; names and texts without their quotes
  std::string raw;
  SqlPlace place;
};

absl::Status Unexpected(const Token& token) {
  return absl::InvalidArgumentError(
      absl::StrCat("Received an unexpected token [", token.raw, "] (line [", token.place.line,
                   "], column [", token.place.column,
                   "]); the simulator knows SELECT of COUNT(*), SUM, MIN, MAX, from one table, "
                   "between bounds of __time"));
}

class Lexer {
 public:
  explicit Lexer(const std::string& text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) Step();
      Token token = Next();
      tokens.push_back(token);
      if (token.kind == Token::Kind::kEnd) break;
      if (broken_) return Unexpected(token);
    }
    return tokens;
  }

 private:
  void Step() {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }

  static bool InWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }

  Token Next() {
    Token token;
    token.place.line = line_;
    token.place.column = static_cast<int>(at_ - line_start_) + 1;
    const size_t start = at_;
    if (at_ < text_.size()) Read(token);
    token.raw = text_.substr(start, at_ - start);
    token.place.end_column = token.place.column + static_cast<int>(token.raw.size()) - 1;
    return token;
  }

  void Read(Token& token) {
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      ReadQuoted(token, c);
    } else if (InWord(c)) {
      while (at_ < text_.size() && InWord(text_[at_])) token.text += text_[at_++];
      token.kind = absl::ascii_isdigit(c) ? Token::Kind::kNumber : Token::Kind::kWord;
    } else {
      token.kind = Token::Kind::kSign;
      token.text = text_.substr(at_++, 1);
      const bool pair = (c == '>' || c == '<') && at_ < text_.size() && text_[at_] == '=';
      if (pair) token.text += text_[at_++];
    }
  }

  void ReadQuoted(Token& token, char quote) {
    token.kind = quote == '"' ? Token::Kind::kName : Token::Kind::kText;
    for (Step(); at_ < text_.size(); Step()) {
      if (text_[at_] != quote) {
        token.text += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == quote) {
        token.text += quote;
        Step();
      } else {
        Step();
        return;
      }
    }
    broken_ = true;
  }

  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;
  bool broken_ = false;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<SqlSelect> Run() {
    for (absl::Status parsed : {Word("SELECT"), Items(), Word("FROM"), Table(), Where()}) {
      if (!parsed.ok()) return parsed;
    }
    (void)Sign(";");
    if (Peek().kind != Token::Kind::kEnd) return Unexpected(Peek());
    absl::StatusOr<Interval> interval = Interval::Of(from_, std::max(from_, to_));
    if (!interval.ok()) return interval.status();
    select_.interval = *interval;
    return std::move(select_);
  }

 private:
  const Token& Peek() const { return tokens_[at_]; }

  bool IsWord(const char* word) const {
    return Peek().kind == Token::Kind::kWord && absl::AsciiStrToUpper(Peek().text) == word;
  }

  absl::Status Word(const char* word) {
    if (failed_ || !IsWord(word)) return Fail();
    ++at_;
    return absl::OkStatus();
  }

  absl::Status Sign(const char* sign) {
    if (Peek().kind != Token::Kind::kSign || Peek().text != sign) return Unexpected(Peek());
    ++at_;
    return absl::OkStatus();
  }

  // The first fault is the one that is told.
  absl::Status Fail() {
    failed_ = true;
    return Unexpected(Peek());
  }

  absl::Status Name(std::string& name, SqlPlace& place) {
    if (Peek().kind != Token::Kind::kName && Peek().kind != Token::Kind::kWord) return Fail();
    name = Peek().text;
    place = Peek().place;
    ++at_;
    return absl::OkStatus();
  }

  absl::Status Items() {
    do {
      absl::Status item = Item();
      if (!item.ok()) return item;
    } while (Sign(",").ok());
    return absl::OkStatus();
  }

  absl::Status Item() {
    if (failed_) return Fail();
    SqlItem item;
    item.aggregation.name = absl::StrCat("EXPR$", select_.items.size());
    item.aggregation.typed_by_column = true;
    const std::string function = absl::AsciiStrToUpper(Peek().text);
    using Kind = Aggregation::Kind;
    if (Peek().kind != Token::Kind::kWord) return Fail();
    if (function == "SUM") item.aggregation.kind = Kind::kSum;
    if (function == "MIN") item.aggregation.kind = Kind::kMin;
    if (function == "MAX") item.aggregation.kind = Kind::kMax;
    const bool count = function == "COUNT";
    if (!count && item.aggregation.kind == Kind::kCount) return Fail();
    ++at_;
    if (!Sign("(").ok()) return Fail();
    absl::Status argument = count ? Sign("*") : Name(item.aggregation.field, item.field_place);
    if (!argument.ok() || !Sign(")").ok()) return Fail();
    return Alias(std::move(item));
  }

  absl::Status Alias(SqlItem item) {
    const bool as = IsWord("AS");
    if (as) ++at_;
    SqlPlace place;
    const bool alias = as || Peek().kind == Token::Kind::kName ||
                       (Peek().kind == Token::Kind::kWord && !IsWord("FROM"));
    absl::Status named = alias ? Name(item.aggregation.name, place) : absl::OkStatus();
    select_.items.push_back(std::move(item));
    return named;
  }

  absl::Status Table() {
    if (failed_) return Fail();
    return Name(select_.table, select_.table_place);
  }

  absl::Status Where() {
    if (failed_) return Fail();
    if (!IsWord("WHERE")) return absl::OkStatus();
    do {
      ++at_;
      absl::Status bound = Bound();
      if (!bound.ok()) return bound;
    } while (IsWord("AND"));
    return absl::OkStatus();
  }

  absl::Status Bound() {
    std::string column;
    SqlPlace place;
    if (!Name(column, place).ok() || column != "__time") return Fail();
    if (Peek().kind != Token::Kind::kSign) return Fail();
    const std::string sign = Peek().text;
    ++at_;
    absl::StatusOr<Instant> time = Time();
    if (!time.ok()) return time.status();
    const Instant next = *time + absl::Milliseconds(1);
    if (sign == ">=" || sign == "=") from_ = std::max(from_, *time);
    if (sign == ">") from_ = std::max(from_, next);
    if (sign == "<") to_ = std::min(to_, *time);
    if (sign == "<=" || sign == "=") to_ = std::min(to_, next);
    if (sign != ">=" && sign != ">" && sign != "<" && sign != "<=" && sign != "=") return Fail();
    return absl::OkStatus();
  }

  absl::StatusOr<Instant> Time() {
    if (IsWord("MILLIS_TO_TIMESTAMP")) return Millis();
    if (!IsWord("TIMESTAMP")) return Fail();
    ++at_;
    if (Peek().kind != Token::Kind::kText) return Fail();
    absl::StatusOr<Instant> instant =
        Instant::Parse(absl::StrReplaceAll(Peek().text, {{" ", "T"}}));
    if (!instant.ok()) return Fail();
    ++at_;
    return instant;
  }

  absl::StatusOr<Instant> Millis() {
    ++at_;
    int64_t millis = 0;
    if (!Sign("(").ok()) return Fail();
    if (Peek().kind != Token::Kind::kNumber || !absl::SimpleAtoi(Peek().text, &millis)) {
      return Fail();
    }
    ++at_;
    if (!Sign(")").ok()) return Fail();
    return Instant::FromMillis(millis);
  }

  const std::vector<Token> tokens_;
  size_t at_ = 0;
  bool failed_ = false;
  SqlSelect select_;
  Instant from_ = Instant::kMin;
  Instant to_ = Instant::kMax;
};

}  // namespace

absl::StatusOr<SqlSelect> ParseSql(const std::string& text) {
  absl::StatusOr<std::vector<Token>> tokens = Lexer(text).Run();
  if (!tokens.ok()) return tokens.status();
  return Parser(*std::move(tokens)).Run();
}

}  // namespace interlock::simulator
