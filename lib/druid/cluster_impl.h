// What the parts of Cluster share. Each group of its functions stands in a file of its
// own: overlord_tasks.cc, overlord_locks.cc, coordinator_segments.cc,
// coordinator_status.cc, marks.cc, broker_sums.cc, capabilities.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lib/druid/cluster.h"
#include "lib/druid/json.h"
#include "lib/druid/service_caller.h"
#include "lib/time/mutex.h"

namespace interlock::druid {

class Cluster::Impl {
 public:
  Impl(const ClusterOptions& options, std::shared_ptr<HttpTransport> transport)
      : caller(options, std::move(transport)) {}

  // Which way of asking was the one that this version has: an index to start from.
  size_t Remembered(const size_t& index) const {
    const MutexLock lock(mutex);
    return index;
  }
  void Remember(size_t* index, size_t value) {
    const MutexLock lock(mutex);
    *index = value;
  }

  ServiceCaller caller;

  mutable Mutex mutex;
  // Through Remembered and Remember.
  size_t lock_way = 0;
  size_t mark_way = 0;
  std::optional<Capabilities> capabilities INTERLOCK_GUARDED_BY(mutex);
  uint64_t capabilities_as_of INTERLOCK_GUARDED_BY(mutex) = 0;  // ServiceCaller::times_away
};

// `value`, which reading the reply has filled, as the answer's.
template <class T>
Answer<T> WithValue(const Answer<HttpReply>& answer, T value) {
  Answer<T> result = answer.done() ? Answer<T>::Done(std::move(value)) : Answer<T>::Like(answer);
  result.set_druid_time(answer.druid_time());
  return result;
}

// For Call::read: parses the reply and hands its tree to `read`.
inline std::function<std::string(const HttpReply&)> ReadsJson(
    std::function<std::string(const rapidjson::Document&)> read) {
  return [read = std::move(read)](const HttpReply& reply) -> std::string {
    rapidjson::Document document;
    std::string why;
    return ParseJson(reply.body, &document, &why) ? read(document) : why;
  };
}

}  // namespace interlock::druid
