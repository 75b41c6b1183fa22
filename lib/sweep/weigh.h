// Signs of rows that are there twice, weighed by what the broker sums of single segments.
//
// Threads: any.
#pragma once

#include <string>

#include "lib/druid/cluster.h"
#include "lib/sweep/look.h"

namespace interlock::sweep {

// Each DUPLICATE_ROWS that is a mere sign (EQUAL_SIZE, APPENDED) becomes a stronger one, a weaker
// one, or none; UNDETERMINED, SIGN_NOT_WEIGHED, where the broker does not answer or not all is
// loaded. Some queries for each.
void WeighSigns(druid::Cluster& cluster, const std::string& datasource, Look* look);

}  // namespace interlock::sweep
