#include "lib/druid/curl_transport.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/lib/druid/wire/wire_server.h"

namespace interlock::druid {
namespace {

using Exchange = HttpReply::Exchange;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

HttpRequest Get(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.deadline = milliseconds(20'000);
  return request;
}

HttpRequest Post(const std::string& url, const std::string& body) {
  HttpRequest request = Get(url);
  request.method = "POST";
  request.body = body;
  request.headers = {"Content-Type: application/json"};
  return request;
}

// Answers every request with what it was.
void Echo(WireConnection& connection) {
  while (const auto request = connection.ReadRequest()) {
    connection.Reply(200, *request, "Content-Type: text/plain\r\n");
  }
}

class CurlTransportTest : public testing::Test {
 protected:
  CurlTransport transport_{CurlTransportOptions{}};
};

TEST_F(CurlTransportTest, SendsMethodHeadersAndBodyAsTheyAre) {
  WireServer server(Echo);
  HttpRequest request = Post(server.url() + "/a?b=c%2Fd", R"({"x":1})");
  request.headers.push_back("X-Mine: 7");
  const HttpReply reply = transport_.Send(request);
  EXPECT_EQ(reply.exchange, Exchange::kWhole);
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, testing::StartsWith("POST /a?b=c%2Fd HTTP/1.1\r\n"));
  EXPECT_THAT(reply.body, HasSubstr("X-Mine: 7\r\n"));
  EXPECT_THAT(reply.body, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(reply.body, testing::EndsWith("\r\n\r\n{\"x\":1}"));
  EXPECT_THAT(reply.body, Not(HasSubstr("Expect")));
  EXPECT_EQ(reply.content_type, "text/plain");
}

TEST_F(CurlTransportTest, APostWithoutABodySaysSoAndClaimsNoType) {
  WireServer server(Echo);
  HttpRequest request = Post(server.url(), "");
  request.headers.clear();
  const HttpReply reply = transport_.Send(request);
  EXPECT_THAT(reply.body, HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(reply.body, Not(HasSubstr("Content-Type")));
}

TEST_F(CurlTransportTest, KeepsConnections) {
  WireServer server(Echo);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(transport_.Send(Get(server.url())).status, 200);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTransportTest, ReportsRedirectsWithoutFollowingThem) {
  WireServer server([](WireConnection& connection) {
    connection.ReadRequest();
    connection.Reply(
        307, "", "Location: http://elsewhere.invalid/x\r\nDate: Sun, 29 Nov 2026 17:51:07 GMT\r\n");
  });
  const HttpReply reply = transport_.Send(Get(server.url()));
  EXPECT_EQ(reply.exchange, Exchange::kWhole);
  EXPECT_EQ(reply.status, 307);
  EXPECT_EQ(reply.location, "http://elsewhere.invalid/x");
  EXPECT_EQ(reply.date, "Sun, 29 Nov 2026 17:51:07 GMT");
}

TEST_F(CurlTransportTest, NothingWasSentWhereNobodyListens) {
  const HttpReply reply = transport_.Send(Post(RefusingUrl(), "x"));
  EXPECT_EQ(reply.exchange, Exchange::kNotConnected);
  EXPECT_NE(reply.error, "");
}

TEST_F(CurlTransportTest, NothingWasSentToANameThatIsNone) {
  EXPECT_EQ(transport_.Send(Get("http://no-such-host.invalid/")).exchange, Exchange::kNotConnected);
  EXPECT_EQ(transport_.Send(Get("not a url")).exchange, Exchange::kNotConnected);
  EXPECT_EQ(transport_.Send(Get("file:///etc/passwd")).exchange, Exchange::kNotConnected);
}

TEST_F(CurlTransportTest, AReplyLostAfterTheRequestArrivedIsBroken) {
  std::atomic<int> arrived{0};
  WireServer server([&](WireConnection& connection) {
    if (connection.ReadRequest()) ++arrived;
    connection.Reset();
  });
  HttpRequest request = Post(server.url(), "x");
  request.once = true;
  EXPECT_EQ(transport_.Send(request).exchange, Exchange::kBroken);
  EXPECT_EQ(arrived, 1);
}

TEST_F(CurlTransportTest, AReplyCutInTheMiddleIsBroken) {
  WireServer server([](WireConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  const HttpReply reply = transport_.Send(Get(server.url()));
  EXPECT_EQ(reply.exchange, Exchange::kBroken);
  EXPECT_FALSE(reply.cut_by_us);
  EXPECT_EQ(reply.status, 0);
}

TEST_F(CurlTransportTest, WhatIsSentOnceIsNotSentAgainOnAConnectionThatDied) {
  // libcurl's habit: a kept connection that closes before a byte of the reply is taken
  // for one that had been dead before, and the request goes out again.
  std::atomic<int> posts{0};
  WireServer server([&](WireConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (!absl::StartsWith(*request, "POST")) {
        connection.Reply(200, "");
        continue;
      }
      ++posts;
      return;  // it had its effect; the reply is lost
    }
  });
  ASSERT_EQ(transport_.Send(Get(server.url())).status, 200);
  HttpRequest request = Post(server.url(), "x");
  request.once = true;
  EXPECT_EQ(transport_.Send(request).exchange, Exchange::kBroken);
  EXPECT_EQ(posts, 1);
}

TEST_F(CurlTransportTest, TheDeadlineCoversTheWholeExchange) {
  WireServer server([](WireConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    // A byte now and then, which a deadline on silence would not see.
    while (connection.Write("x")) std::this_thread::sleep_for(milliseconds(10));
  });
  HttpRequest request = Get(server.url());
  request.deadline = milliseconds(200);
  const HttpReply reply = transport_.Send(request);
  EXPECT_EQ(reply.exchange, Exchange::kBroken);
  EXPECT_GE(reply.took, milliseconds(150));
  EXPECT_LT(reply.took, milliseconds(10'000));
}

TEST_F(CurlTransportTest, AServerThatNeverAnswersIsBrokenAtTheDeadline) {
  WireServer server([](WireConnection& connection) { connection.WaitForClose(); });
  HttpRequest request = Post(server.url(), "x");
  request.deadline = milliseconds(100);
  EXPECT_EQ(transport_.Send(request).exchange, Exchange::kBroken);
}

TEST_F(CurlTransportTest, EndlessRepliesAreCutAtTheCap) {
  WireServer server([](WireConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.Write(std::string(65536, 'x'))) {
    }
  });
  HttpRequest request = Get(server.url());
  request.max_reply_bytes = 1 << 20;
  const HttpReply reply = transport_.Send(request);
  EXPECT_EQ(reply.exchange, Exchange::kBroken);
  EXPECT_TRUE(reply.cut_by_us);
  EXPECT_LE(reply.body.size(), size_t{1} << 20);
}

TEST_F(CurlTransportTest, BodiesArriveInPiecesAndAreNotKept) {
  const std::string body(3 << 20, 'x');
  WireServer server([&](WireConnection& connection) {
    connection.ReadRequest();
    connection.Reply(200, body);
  });
  size_t received = 0;
  HttpRequest request = Get(server.url());
  request.on_body = [&](absl::string_view piece) {
    received += piece.size();
    return true;
  };
  const HttpReply reply = transport_.Send(request);
  EXPECT_EQ(reply.exchange, Exchange::kWhole);
  EXPECT_EQ(received, body.size());
  EXPECT_EQ(reply.body, "");
}

TEST_F(CurlTransportTest, AnErrorsBodyIsKeptAlthoughBodiesAreStreamed) {
  WireServer server([](WireConnection& connection) {
    connection.ReadRequest();
    connection.Reply(500, "sorry");
  });
  HttpRequest request = Get(server.url());
  request.on_body = [](absl::string_view) { return false; };
  const HttpReply reply = transport_.Send(request);
  EXPECT_EQ(reply.exchange, Exchange::kWhole);
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "sorry");
}

TEST_F(CurlTransportTest, AReaderThatHasEnoughEndsTheExchange) {
  WireServer server([](WireConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.Write(std::string(65536, 'x'))) {
    }
  });
  int pieces = 0;
  HttpRequest request = Get(server.url());
  request.on_body = [&](absl::string_view) { return ++pieces < 3; };
  const HttpReply reply = transport_.Send(request);
  EXPECT_EQ(reply.exchange, Exchange::kBroken);
  EXPECT_TRUE(reply.cut_by_us);
  EXPECT_EQ(pieces, 3);
}

TEST_F(CurlTransportTest, ASlowReaderHoldsTheServerBack) {
  std::atomic<int64_t> written{0};
  WireServer server([&](WireConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\n\r\n");
    const std::string chunk(1 << 20, 'x');
    for (int i = 0; i < 64 && connection.Write(chunk); ++i) written += 1 << 20;
  });
  int64_t received = 0;
  int64_t furthest_ahead = 0;
  HttpRequest request = Get(server.url());
  request.on_body = [&](absl::string_view piece) {
    received += static_cast<int64_t>(piece.size());
    if (received > (8 << 20)) return true;
    std::this_thread::sleep_for(milliseconds(20));
    furthest_ahead = std::max(furthest_ahead, written - received);
    return true;
  };
  EXPECT_EQ(transport_.Send(request).exchange, Exchange::kWhole);
  EXPECT_EQ(received, 64 << 20);
  // What waits here, and what the kernel's buffers of both ends hold.
  EXPECT_LT(furthest_ahead, 32 << 20);
}

TEST_F(CurlTransportTest, ManyThreadsShareIt) {
  WireServer server(Echo);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 25; ++j) {
        const std::string body = absl::StrCat("from ", i, " number ", j);
        const HttpReply reply = transport_.Send(Post(server.url(), body));
        if (reply.status == 200 && absl::EndsWith(reply.body, body)) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
  EXPECT_LE(server.connections(), 16);
}

TEST_F(CurlTransportTest, OneExchangeDoesNotWaitForAnothers) {
  WireServer slow([](WireConnection& connection) { connection.WaitForClose(); });
  WireServer quick(Echo);
  HttpRequest request = Get(slow.url());
  request.deadline = milliseconds(500);
  std::thread waiting([&] { transport_.Send(request); });
  const HttpReply reply = transport_.Send(Get(quick.url()));
  EXPECT_EQ(reply.status, 200);
  EXPECT_LT(reply.took, milliseconds(400));
  waiting.join();
}

TEST(CurlTransport, EndsWhatIsUnderWayWhenItIsDestroyed) {
  std::atomic<bool> asked{false};
  WireServer server([&](WireConnection& connection) {
    connection.ReadRequest();
    asked = true;
    connection.WaitForClose();
  });
  auto transport = std::make_unique<CurlTransport>(CurlTransportOptions{});
  HttpReply reply;
  CurlTransport* const sender = transport.get();
  std::thread sending([&] { reply = sender->Send(Get(server.url())); });
  while (!asked) std::this_thread::yield();
  transport.reset();
  sending.join();
  EXPECT_EQ(reply.exchange, Exchange::kBroken);
}

TEST(CurlTransport, APauseEndsWithTheTransport) {
  auto transport = std::make_unique<CurlTransport>(CurlTransportOptions{});
  CurlTransport* const pausing = transport.get();
  std::atomic<bool> begun{false};
  std::thread thread([&] {
    begun = true;
    pausing->Pause(milliseconds(600'000));
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(20));
  transport.reset();
  thread.join();
}

}  // namespace
}  // namespace interlock::druid
