// Locks of the overlord, in three ways: activeLocks (31 and later) tells all of them,
// lockedIntervals/v2 (28) and lockedIntervals (up to 30) only where they are.
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

// Each way hides locks of a lower priority than it is given.
constexpr int32_t kLowestPriority = std::numeric_limits<int32_t>::min();

std::string IntervalsJson(const std::vector<Interval>& intervals) {
  return absl::StrCat("[",
                      absl::StrJoin(intervals, ",",
                                    [](std::string* out, const Interval& interval) {
                                      absl::StrAppend(out, "\"", interval.ToString(), "\"");
                                    }),
                      "]");
}

bool Concerns(const TaskLock& lock, const std::vector<Interval>& intervals) {
  if (lock.revoked) return false;
  if (intervals.empty()) return true;
  for (const Interval& interval : intervals) {
    if (interval.Overlaps(lock.interval)) return true;
  }
  return false;
}

// "" or what is wrong with it.
std::string ReadLock(const rapidjson::Value& value, TaskLock* lock) {
  const absl::StatusOr<Interval> interval = Interval::Parse(TextMember(value, "interval"));
  if (!interval.ok()) return "a lock without an interval";
  lock->interval = *interval;
  lock->type = TextMember(value, "type");
  if (lock->type.empty()) lock->type = TextMember(value, "lockType");
  lock->group_id = TextMember(value, "groupId");
  lock->version = TextMember(value, "version");
  lock->priority = IntMember(value, "priority").value_or(0);
  lock->revoked = BoolMember(value, "revoked").value_or(false);
  return "";
}

// {"datasourceToLocks": {DS: [lock, …]}}
std::string ReadActiveLocks(const rapidjson::Document& reply, const std::string& datasource,
                            std::vector<TaskLock>* locks) {
  const rapidjson::Value* by_datasource = Member(reply, "datasourceToLocks");
  if (by_datasource == nullptr || !by_datasource->IsObject()) return "locks of no datasource";
  const rapidjson::Value* listed = Member(*by_datasource, datasource.c_str());
  if (listed == nullptr) return "";
  if (!listed->IsArray()) return "locks that are no array";
  for (const auto& value : listed->GetArray()) {
    TaskLock lock;
    std::string why = ReadLock(value, &lock);
    if (!why.empty()) return why;
    locks->push_back(std::move(lock));
  }
  return "";
}

// {DS: ["start/end", …]}
std::string ReadLockedIntervals(const rapidjson::Document& reply, const std::string& datasource,
                                std::vector<TaskLock>* locks) {
  if (!reply.IsObject()) return "locked intervals that are no object";
  const rapidjson::Value* listed = Member(reply, datasource.c_str());
  if (listed == nullptr) return "";
  if (!listed->IsArray()) return "locked intervals that are no array";
  for (const auto& value : listed->GetArray()) {
    const absl::StatusOr<Interval> interval =
        Interval::Parse(value.IsString() ? value.GetString() : "");
    if (!interval.ok()) return "a locked interval that is none";
    TaskLock lock;
    lock.interval = *interval;
    locks->push_back(std::move(lock));
  }
  return "";
}

Call LockCall(const std::string& path, const std::string& body) {
  Call call;
  call.endpoint = "locks";
  call.method = "POST";
  call.path = absl::StrCat("/druid/indexer/v1/", path);
  call.body = body;
  return call;
}

}  // namespace

Answer<std::vector<TaskLock>> Cluster::ListLocks(const std::string& datasource,
                                                 const std::vector<Interval>& intervals) {
  std::vector<TaskLock> locks;
  // The filter's member is all lower case; `dataSource` is taken and answers "no locks".
  const std::string filter =
      absl::StrCat("{\"datasource\":", QuoteJson(datasource), ",\"priority\":", kLowestPriority);
  const std::string narrowed =
      intervals.empty() ? "" : absl::StrCat(",\"intervals\":", IntervalsJson(intervals));
  std::vector<Call> ways = {LockCall("activeLocks", absl::StrCat("[", filter, narrowed, "}]")),
                            LockCall("lockedIntervals/v2", absl::StrCat("[", filter, "}]")),
                            LockCall("lockedIntervals", absl::StrCat("{", QuoteJson(datasource),
                                                                     ":", kLowestPriority, "}"))};
  for (size_t i = 0; i < ways.size(); ++i) {
    ways[i].read = ReadsJson([&locks, &datasource, i](const rapidjson::Document& reply) {
      locks.clear();
      return i == 0 ? ReadActiveLocks(reply, datasource, &locks)
                    : ReadLockedIntervals(reply, datasource, &locks);
    });
  }
  size_t way = impl_->Remembered(impl_->lock_way);
  Answer<HttpReply> answer = impl_->caller.SendSupported(ways, &way);
  // After an update of Druid the remembered way may be the one that is gone.
  impl_->Remember(&impl_->lock_way, answer.cause() == Cause::kUnsupported ? 0 : way);
  std::vector<TaskLock> concerned;
  for (TaskLock& lock : locks) {
    if (Concerns(lock, intervals)) concerned.push_back(std::move(lock));
  }
  return WithValue(answer, std::move(concerned));
}

}  // namespace interlock::druid
