#include "lib/druid/cluster.h"

#include <utility>

#include "lib/druid/cluster_impl.h"

namespace interlock::druid {

Cluster::Cluster(const ClusterOptions& options, std::shared_ptr<HttpTransport> transport)
    : impl_(std::make_unique<Impl>(options, std::move(transport))) {}

Cluster::~Cluster() = default;

}  // namespace interlock::druid
