// The tables of one module, as steps from nothing to today.
//
// Each layer that keeps tables has such a list beside its code, and whoever opens the
// store hands all of them over. Steps are never edited once released: a change is a new
// step at the end. Every step runs in one transaction with the note that it has run.
#pragma once

#include <string>
#include <vector>

namespace interlock::store {

struct Schema {
  std::string module;  // "lease"
  // Step i brings the module from version i to version i + 1; a step is a list of
  // statements that SQLite and PostgreSQL both take: types BIGINT and TEXT, and these
  // words, which stand for what differs:
  //   {{serial}}     a column of numbers that rise by themselves, as primary key (a number
  //                  comes again only where the row with the highest one was removed)
  //   {{clustered}}  after a CREATE TABLE's closing bracket: rows are kept in the order of
  //                  the primary key
  //   {{postgresql}} {{sqlite}}  at the very beginning: a statement for that engine alone
  std::vector<std::vector<std::string>> steps;
  // Run once when a backup is opened as a store: what must not repeat itself (fencing
  // tokens) is lifted here, above store_facts' token_floor. On PostgreSQL the numbers of
  // {{serial}} columns go on above the highest one that is there then.
  std::vector<std::string> on_restore;
  // Run once when the database is another server's than before (PostgreSQL): with
  // asynchronous replication the last commits may be missing. The token_floor is new.
  std::vector<std::string> on_failover = {};
  // A query of one number that rises with each thing that must not come again after an older
  // copy of the file was put back (SQLite), and is no lower than any fencing token; asked
  // with each commit, so one index step. "" for none.
  std::string newest = {};
};

}  // namespace interlock::store
