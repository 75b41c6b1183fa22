// Stands between a store and its PostgreSQL, and loses one reply on request: the server has
// done what it was asked, and nobody hears of it.
//
// Threads: one of its own; all functions can be called from any.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "lib/time/mutex.h"

namespace interlock::store {

class LosingProxy {
 public:
  // `dsn` names the server by host=ADDRESS port=NUMBER.
  explicit LosingProxy(std::string dsn);
  ~LosingProxy();
  LosingProxy(const LosingProxy&) = delete;
  LosingProxy& operator=(const LosingProxy&) = delete;

  // The same database, through here.
  std::string dsn() const;

  // Once the server has answered a query that has `query` in it with something that has
  // `reply` in it, that answer is thrown away and the connection cut. While `away`, nobody
  // gets through afterwards.
  void LoseReply(const std::string& query, const std::string& reply, bool away = false);
  void ComeBack();
  int lost() const;

 private:
  struct Pair {
    int client = -1, server = -1;
    bool asked = false;  // the query went by
    std::string answer;
  };

  void Run();
  void Accept();
  // False where the connection is over.
  bool Forward(Pair& pair, bool from_client);
  bool Lose(Pair& pair, const std::string& bytes, bool from_client);
  void Cut(Pair& pair);

  const std::string dsn_;
  int listener_ = -1;
  int port_ = 0;
  int wake_[2] = {-1, -1};
  std::map<int, Pair> pairs_;  // by the client's socket
  mutable Mutex mutex_;
  std::string query_ INTERLOCK_GUARDED_BY(mutex_);
  std::string reply_ INTERLOCK_GUARDED_BY(mutex_);
  bool stay_away_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool away_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  int lost_ INTERLOCK_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace interlock::store
