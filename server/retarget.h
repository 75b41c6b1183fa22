// The work of a correction: the same, written beside what was given out.
#pragma once

#include <string>

namespace interlock::server {

// `work`, a task spec or a query as a plan has it (lib/backfill/sql_work.h), with `datasource`
// for its target; "" where no target is found. A query's is what follows its first REPLACE
// INTO, be that in a comment: whoever runs the result asks Druid which datasource it replaces.
std::string Retarget(const std::string& work, const std::string& datasource);

}  // namespace interlock::server
