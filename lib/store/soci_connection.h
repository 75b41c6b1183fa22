// A Connection over SOCI: one code path for both engines. Costs 11 s of CPU to include;
// only the engines' own files do.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/sql_text.h"
#include "soci/soci.h"

namespace interlock::store {

class SociConnection : public Connection {
 public:
  SociConnection(std::unique_ptr<soci::session> session, Engine engine);
  ~SociConnection() override;

  absl::StatusOr<Rows> Query(const char* sql, Values values) override;
  absl::StatusOr<int64_t> Execute(const char* sql, Values values) override;
  absl::Status Run(const std::string& sql) override;

 protected:
  soci::details::session_backend* backend() const { return session_->get_backend(); }
  // What an exception means: one of store_errors.h.
  virtual absl::Status Classify(const soci::soci_error& error) const = 0;
  // Columns of the result of a statement that was prepared.
  virtual int CountColumns(soci::statement& statement) const = 0;

 private:
  class Statement;

  // The kept statement for this text whose parameters have these types; made at need.
  absl::StatusOr<Statement*> Find(const char* sql, Values values);

  std::unique_ptr<soci::session> session_;
  const Engine engine_;
  // By the literal's address. Several for one text where a parameter is a number in one
  // call and a text in another. Before session_ goes, its statements go.
  std::unordered_map<const char*, std::vector<std::unique_ptr<Statement>>> statements_;
};

}  // namespace interlock::store
