#include "lib/store/soci_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/store_errors.h"

namespace interlock::store {

// A prepared statement and the places that SOCI binds once and reads at each run. All
// results are fetched as text: SOCI guesses their types from declarations, which sums and
// other expressions do not have.
class SociConnection::Statement {
 public:
  Statement(const SociConnection& connection, const char* sql, Values values)
      : original_(sql), statement_(*connection.session_) {
    const NumberedSql numbered = NumberParameters(Render(sql, connection.engine_));
    statement_.alloc();
    statement_.prepare(numbered.text);
    parameters_.resize(numbered.parameters);
    for (size_t i = 0; i < parameters_.size() && i < values.size(); ++i) {
      Bind(parameters_[i], values[i].is_text() || values[i].is_null());
    }
    columns_.resize(connection.CountColumns(statement_));
    for (Column& column : columns_) statement_.exchange(soci::into(column.text, column.indicator));
    statement_.define_and_bind();
  }
  ~Statement() { statement_.clean_up(); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  const std::string& original() const { return original_; }
  size_t parameters() const { return parameters_.size(); }

  bool Takes(const char* sql, Values values) const {
    if (original_ != sql || values.size() != parameters_.size()) return false;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_null() && values[i].is_text() != parameters_[i].is_text) return false;
    }
    return true;
  }

  Rows Query(Values values) {
    Rows rows;
    Run(values, [&] { rows.push_back(CurrentRow()); });
    return rows;
  }

  int64_t Execute(Values values) {
    // To its end, also where it returns rows: a statement left open keeps COMMIT waiting.
    Run(values, [] {});
    return statement_.get_affected_rows();
  }

 private:
  struct Parameter {
    bool is_text = true;
    std::string text;
    long long number = 0;  // NOLINT(google-runtime-int): SOCI's own type
    soci::indicator indicator = soci::i_ok;
  };
  struct Column {
    std::string text;
    soci::indicator indicator = soci::i_ok;
  };

  void Bind(Parameter& parameter, bool is_text) {
    parameter.is_text = is_text;
    if (is_text) {
      statement_.exchange(soci::use(parameter.text, parameter.indicator));
    } else {
      statement_.exchange(soci::use(parameter.number, parameter.indicator));
    }
  }

  template <typename ForEachRow>
  void Run(Values values, ForEachRow for_each_row) {
    Set(values);
    try {
      for (bool found = statement_.execute(true); found; found = statement_.fetch()) for_each_row();
    } catch (...) {
      // SOCI drops its copies of the values where a run succeeds. Those of a failed one would
      // be sent again where the next is given NULL.
      statement_.undefine_and_bind();
      statement_.define_and_bind();
      throw;
    }
  }

  void Set(Values values) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Parameter& parameter = parameters_[i];
      parameter.indicator = values[i].is_null() ? soci::i_null : soci::i_ok;
      if (const std::string* text = values[i].AsText()) {
        parameter.text = *text;
      } else {
        parameter.number = values[i].Int();
      }
    }
  }

  Row CurrentRow() const {
    std::vector<Value> values;
    values.reserve(columns_.size());
    for (const Column& column : columns_) {
      if (column.indicator == soci::i_null) {
        values.emplace_back();
      } else {
        values.emplace_back(column.text);
      }
    }
    return Row(std::move(values));
  }

  const std::string original_;
  soci::statement statement_;
  // Deques: SOCI keeps the addresses.
  std::deque<Parameter> parameters_;
  std::deque<Column> columns_;
};

SociConnection::SociConnection(std::unique_ptr<soci::session> session, Engine engine)
    : session_(std::move(session)), engine_(engine) {}

SociConnection::~SociConnection() = default;

absl::StatusOr<SociConnection::Statement*> SociConnection::Find(const char* sql, Values values) {
  std::vector<std::unique_ptr<Statement>>& kept = statements_[sql];
  for (const auto& statement : kept) {
    if (statement->Takes(sql, values)) return statement.get();
  }
  // The address of a text that is no literal can come back with another text.
  if (!kept.empty() && kept.front()->original() != sql) kept.clear();
  auto statement = std::make_unique<Statement>(*this, sql, values);
  if (statement->parameters() != values.size()) {
    return BadStatement(
        absl::StrCat(values.size(), " values for ", statement->parameters(), " parameters: ", sql));
  }
  kept.push_back(std::move(statement));
  return kept.back().get();
}

absl::StatusOr<Rows> SociConnection::Query(const char* sql, Values values) try {
  absl::StatusOr<Statement*> statement = Find(sql, values);
  if (!statement.ok()) return statement.status();
  return (*statement)->Query(values);
} catch (const soci::soci_error& error) {
  return Classify(error);
}

absl::StatusOr<int64_t> SociConnection::Execute(const char* sql, Values values) try {
  absl::StatusOr<Statement*> statement = Find(sql, values);
  if (!statement.ok()) return statement.status();
  return (*statement)->Execute(values);
} catch (const soci::soci_error& error) {
  return Classify(error);
}

absl::Status SociConnection::Run(const std::string& sql) try {
  *session_ << sql;
  return absl::OkStatus();
} catch (const soci::soci_error& error) {
  return Classify(error);
}

}  // namespace interlock::store
