// Every request that came, so that a test can show what was sent, and what was not.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "lib/simulator/message.h"
#include "lib/time/instant.h"

namespace interlock::simulator {

struct LoggedRequest {
  int64_t number = 0;  // counts from 1
  Instant time;
  std::string method;
  std::string path;
  std::string target;  // with the query
  std::string body;    // its first kilobytes
  std::string digest;  // of the whole body; equal bodies have equal ones
  bool write = false;  // it would change something in Druid
  int status = 0;      // 0: no reply was sent
  std::string fault;   // the kind that met it; "" if none did
};

class RequestLog {
 public:
  // The number of the entry.
  int64_t Begin(const Request& request, bool write, const std::string& fault, Instant now);
  void End(int64_t number, int status);

  // Entries after `since`, oldest first; the oldest are forgotten beyond a limit.
  std::vector<LoggedRequest> Since(int64_t since) const;
  // {"method","path" (a glob),"since","writes","bodies"} of the query narrow it down.
  std::string ToJson(const Request& query) const;
  void Clear() { entries_.clear(); }

 private:
  std::deque<LoggedRequest> entries_;
  int64_t next_ = 1;
};

}  // namespace interlock::simulator
