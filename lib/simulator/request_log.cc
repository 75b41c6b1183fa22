#include "lib/simulator/request_log.h"

#include <fnmatch.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "lib/simulator/json.h"
#include "lib/time/fnv.h"

namespace interlock::simulator {
namespace {

constexpr size_t kMaxEntries = 100'000;
constexpr size_t kMaxKeptBytes = 16 << 10;  // of a body

std::string Digest(const std::string& body) { return absl::StrFormat("%016x", Fnv1a64(body)); }

void Write(JsonWriter& out, const LoggedRequest& entry, bool bodies) {
  out.Object()
      .Member("number", entry.number)
      .Member("time", entry.time.ToString())
      .Member("method", entry.method)
      .Member("path", entry.path)
      .Member("target", entry.target)
      .Member("digest", entry.digest)
      .Member("write", entry.write)
      .Member("status", entry.status)
      .Member("fault", entry.fault);
  if (bodies) out.Member("body", entry.body);
  out.End();
}

}  // namespace

int64_t RequestLog::Begin(const Request& request, bool write, const std::string& fault,
                          Instant now) {
  LoggedRequest entry;
  entry.number = next_++;
  entry.time = now;
  entry.method = request.method;
  entry.path = request.path;
  entry.target = request.target;
  entry.body = request.body.substr(0, kMaxKeptBytes);
  entry.digest = Digest(request.body);
  entry.write = write;
  entry.fault = fault;
  entries_.push_back(std::move(entry));
  if (entries_.size() > kMaxEntries) entries_.pop_front();
  return next_ - 1;
}

void RequestLog::End(int64_t number, int status) {
  if (entries_.empty() || number < entries_.front().number) return;
  const size_t at = static_cast<size_t>(number - entries_.front().number);
  if (at < entries_.size()) entries_[at].status = status;
}

std::vector<LoggedRequest> RequestLog::Since(int64_t since) const {
  std::vector<LoggedRequest> entries;
  for (const LoggedRequest& entry : entries_) {
    if (entry.number > since) entries.push_back(entry);
  }
  return entries;
}

std::string RequestLog::ToJson(const Request& query) const {
  int64_t since = 0;
  (void)absl::SimpleAtoi(query.Get("since"), &since);
  const std::string method = query.Get("method");
  const std::string path = query.Get("path");
  JsonWriter out;
  out.Array();
  for (const LoggedRequest& entry : entries_) {
    if (entry.number <= since || (query.Has("writes") && !entry.write)) continue;
    if (!method.empty() && entry.method != method) continue;
    if (!path.empty() && fnmatch(path.c_str(), entry.path.c_str(), 0) != 0) continue;
    Write(out, entry, query.Has("bodies"));
  }
  out.End();
  return out.Take();
}

}  // namespace interlock::simulator
