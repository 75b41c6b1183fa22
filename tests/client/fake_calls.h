// A server that a test plays: one function for each method that it answers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/calls.h"
#include "google/protobuf/message.h"
#include "lib/time/mutex.h"
#include "lib/time/status_reason.h"

namespace interlock {

// What the server answers with: `FailedPrecondition` and a reason.
inline absl::Status Refusal(absl::StatusCode code, const std::string& message,
                            const std::string& reason) {
  return WithReason(absl::Status(code, message), reason);
}

inline absl::Status Away() {
  return Refusal(absl::StatusCode::kUnavailable, "connection refused", "UNREACHABLE");
}

// Safe to call from any thread; answers are set before. A method that is not set is
// UNREACHABLE.
class FakeCalls : public client::Calls {
 public:
  template <class Request, class Reply>
  void On(const std::string& method, std::function<absl::Status(const Request&, Reply&)> answer) {
    answers_[method] = [answer = std::move(answer)](const google::protobuf::Message& request,
                                                    google::protobuf::Message& reply) {
      return answer(dynamic_cast<const Request&>(request), dynamic_cast<Reply&>(reply));
    };
  }

  // Replies are told one by one, then the stream ends with the status.
  template <class Request, class Reply>
  void OnWatch(const std::string& method,
               std::function<absl::Status(const Request&, std::vector<Reply>&)> answer) {
    streams_[method] = [answer = std::move(answer)](const google::protobuf::Message& request,
                                                    google::protobuf::Message& reply,
                                                    const std::function<bool()>& on_reply) {
      std::vector<Reply> replies;
      absl::Status status = answer(dynamic_cast<const Request&>(request), replies);
      for (const Reply& one : replies) {
        reply.CopyFrom(one);
        if (!on_reply()) return absl::OkStatus();
      }
      return status;
    };
  }

  absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, absl::Duration timeout) override {
    Note(method, timeout);
    const auto answer = answers_.find(method);
    return answer == answers_.end() ? Away() : answer->second(request, reply);
  }

  absl::Status Watch(const std::string& method, const google::protobuf::Message& request,
                     google::protobuf::Message& reply, absl::Duration timeout,
                     const std::function<bool()>& on_reply) override {
    Note(method, timeout);
    const auto stream = streams_.find(method);
    return stream == streams_.end() ? Away() : stream->second(request, reply, on_reply);
  }

  // How often a method was called.
  int count(const std::string& method) const {
    MutexLock lock(mutex_);
    const auto found = counts_.find(method);
    return found == counts_.end() ? 0 : found->second;
  }
  // The timeout of the last call.
  absl::Duration last_timeout() const {
    MutexLock lock(mutex_);
    return last_timeout_;
  }

 private:
  void Note(const std::string& method, absl::Duration timeout) {
    MutexLock lock(mutex_);
    ++counts_[method];
    last_timeout_ = timeout;
  }

  using Message = google::protobuf::Message;
  std::map<std::string, std::function<absl::Status(const Message&, Message&)>> answers_;
  std::map<std::string,
           std::function<absl::Status(const Message&, Message&, const std::function<bool()>&)>>
      streams_;
  mutable Mutex mutex_;
  std::map<std::string, int> counts_ INTERLOCK_GUARDED_BY(mutex_);
  absl::Duration last_timeout_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock
