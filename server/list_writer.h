// A streamed reply that is known when it begins: one message after the other, as the
// caller takes them.
#pragma once

#include <utility>
#include <vector>

#include "grpcpp/support/server_callback.h"

namespace interlock::server {

template <class Message>
class ListWriter final : public grpc::ServerWriteReactor<Message> {
 public:
  // With a status that is not OK nothing is sent before it.
  ListWriter(std::vector<Message> messages, grpc::Status status)
      : messages_(std::move(messages)), status_(std::move(status)) {
    if (!status_.ok()) messages_.clear();
    Next();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return this->Finish(grpc::Status::CANCELLED);
    Next();
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (next_ == messages_.size()) return this->Finish(status_);
    this->StartWrite(&messages_[next_++]);
  }

  std::vector<Message> messages_;
  const grpc::Status status_;
  size_t next_ = 0;
};

}  // namespace interlock::server
