// A transport without a wire: what a test answers, and what was asked.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "lib/druid/transport.h"

namespace interlock::druid {

inline HttpReply Reply(int status, std::string body, std::string type = "application/json") {
  HttpReply reply;
  reply.exchange = HttpReply::Exchange::kWhole;
  reply.status = status;
  reply.body = std::move(body);
  reply.content_type = std::move(type);
  return reply;
}

inline HttpReply Redirect(std::string location) {
  HttpReply reply = Reply(307, "", "");
  reply.location = std::move(location);
  return reply;
}

inline HttpReply NotConnected() {
  HttpReply reply;
  reply.error = "connection refused";
  return reply;
}

inline HttpReply Lost() {
  HttpReply reply;
  reply.exchange = HttpReply::Exchange::kBroken;
  reply.error = "connection reset";
  return reply;
}

// One thread.
class CannedTransport : public HttpTransport {
 public:
  using Answerer = std::function<HttpReply(const HttpRequest&)>;

  explicit CannedTransport(Answerer answerer) : answerer_(std::move(answerer)) {}

  HttpReply Send(const HttpRequest& request) override {
    requests.push_back(request);
    HttpReply reply = answerer_(request);
    if (request.on_body && reply.exchange == HttpReply::Exchange::kWhole &&
        reply.status / 100 == 2) {
      HandOver(request, &reply);
    }
    return reply;
  }
  void Pause(std::chrono::milliseconds duration) override { pauses.push_back(duration); }

  // "POST http://coordinator/druid/…", in order.
  std::vector<std::string> Asked() const {
    std::vector<std::string> asked;
    for (const HttpRequest& request : requests) {
      asked.push_back(request.method + " " + request.url);
    }
    return asked;
  }

  size_t piece_bytes = 7;  // of streamed bodies
  std::vector<HttpRequest> requests;
  std::vector<std::chrono::milliseconds> pauses;

 private:
  void HandOver(const HttpRequest& request, HttpReply* reply) const {
    const std::string body = std::move(reply->body);
    reply->body.clear();
    for (size_t at = 0; at < body.size(); at += piece_bytes) {
      if (request.on_body(absl::string_view(body).substr(at, piece_bytes))) continue;
      reply->exchange = HttpReply::Exchange::kBroken;
      reply->cut_by_us = true;
      reply->error = "the reader wants no more";
      return;
    }
  }

  const Answerer answerer_;
};

}  // namespace interlock::druid
