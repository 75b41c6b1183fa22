// A connection over a real wire: an in-process gRPC server on port 0 that answers bytes.
#include "client/cpp/connection.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/text_fields.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "interlock/v1/drops.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

// What a call gets: messages, then a status; or nothing, ever.
struct Answer {
  std::vector<v1::GetDropResponse> replies;
  grpc::Status status;
  bool never = false;
};

class Server : public grpc::CallbackGenericService {
 public:
  explicit Server(Answer answer) : answer_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~Server() override { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  std::string method, caller, authorization;
  v1::GetDropRequest request;

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    method = context->method();
    const auto value = [&](const char* key) {
      const auto found = context->client_metadata().find(key);
      return found == context->client_metadata().end()
                 ? std::string()
                 : std::string(found->second.data(), found->second.size());
    };
    caller = value("interlock-caller");
    authorization = value("authorization");
    return new Reactor(*this);
  }

 private:
  class Reactor : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(Server& server) : server_(server) { StartRead(&buffer_); }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::CANCELLED);
      grpc::SerializationTraits<v1::GetDropRequest>::Deserialize(&buffer_, &server_.request);
      if (!server_.answer_.never) Next();
    }
    void OnWriteDone(bool ok) override { ok ? Next() : Finish(grpc::Status::CANCELLED); }
    void OnCancel() override {
      if (server_.answer_.never) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }

   private:
    void Next() {
      if (at_ == server_.answer_.replies.size()) return Finish(server_.answer_.status);
      bool own = false;
      grpc::SerializationTraits<v1::GetDropResponse>::Serialize(server_.answer_.replies[at_++],
                                                                &buffer_, &own);
      StartWrite(&buffer_);
    }

    Server& server_;
    grpc::ByteBuffer buffer_;
    size_t at_ = 0;
  };

  const Answer answer_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

std::unique_ptr<Connection> Open(const std::string& address) {
  ConnectionOptions options;
  options.address = address;
  options.caller = "nightly";
  options.token = "secret";
  auto connection = Connection::Open(options);
  EXPECT_TRUE(connection.ok()) << connection.status();
  return *std::move(connection);
}

v1::GetDropResponse Drop(const std::string& id) {
  v1::GetDropResponse response;
  response.mutable_drop()->set_drop_id(id);
  return response;
}

absl::Status Get(const Server& server, v1::GetDropResponse* reply = nullptr,
                 absl::Duration timeout = absl::Seconds(30)) {
  v1::GetDropRequest request;
  request.set_drop_id("d-1");
  v1::GetDropResponse unused;
  return Open(server.address())
      ->Call("Drops.GetDrop", request, reply == nullptr ? unused : *reply, timeout);
}

TEST(Connection, CallsAMethodByNameAndSaysWhoCalls) {
  Server server({{Drop("d-1")}, grpc::Status::OK});
  v1::GetDropResponse reply;
  ASSERT_TRUE(Get(server, &reply).ok());
  EXPECT_EQ(server.method, "/interlock.v1.Drops/GetDrop");
  EXPECT_EQ(server.request.drop_id(), "d-1");
  EXPECT_EQ(server.caller, "nightly");
  EXPECT_EQ(server.authorization, "Bearer secret");
  EXPECT_EQ(reply.drop().drop_id(), "d-1");
}

TEST(Connection, TakesRepliesOfManyMegabytes) {
  Server server({{Drop(std::string(20 << 20, 'x'))}, grpc::Status::OK});
  v1::GetDropResponse reply;
  EXPECT_TRUE(Get(server, &reply).ok());
  EXPECT_EQ(reply.drop().drop_id().size(), size_t{20} << 20);
}

// An error with all the details that a server of ours sends.
grpc::Status Detailed(int blockers) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  info.set_reason("HELD");
  (*info.mutable_metadata())["holder"] = "auditor";
  details.add_details()->PackFrom(info);
  google::rpc::BadRequest bad;
  auto* fault = bad.add_field_violations();
  fault->set_field("/spec/ioConfig");
  fault->set_description("is missing; write one");
  details.add_details()->PackFrom(bad);
  google::rpc::PreconditionFailure failure;
  for (int i = 0; i < blockers; ++i) {
    auto* violation = failure.add_violations();
    violation->set_type("HELD");
    violation->set_subject(absl::StrCat("events/", i));
    violation->set_description(std::string(300, 'x'));
  }
  details.add_details()->PackFrom(failure);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(89);
  retry.mutable_retry_delay()->set_nanos(100'000'000);
  details.add_details()->PackFrom(retry);
  return {grpc::StatusCode::FAILED_PRECONDITION, "events is held", details.SerializeAsString()};
}

TEST(Connection, AnErrorComesBackAsTheServerMeantIt) {
  Server server({{}, Detailed(1)});
  const absl::Status status = Get(server);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message(), "events is held");
  EXPECT_EQ(ReasonOf(status), "HELD");
  EXPECT_EQ(MetadataOf(status).at("holder"), "auditor");
  ASSERT_EQ(FaultsOf(status).size(), 1u);
  EXPECT_EQ(FaultsOf(status)[0].pointer, "/spec/ioConfig");
  EXPECT_EQ(FaultsOf(status)[0].found, "is missing; write one");
  ASSERT_EQ(BlockersOf(status).size(), 1u);
  EXPECT_EQ(BlockersOf(status)[0].subject, "events/0");
  EXPECT_EQ(RetryAfterOf(status), std::chrono::milliseconds(89'100));
}

TEST(Connection, AnErrorThatNamesFortyHoldersIsNotCut) {
  Server server({{}, Detailed(40)});
  EXPECT_EQ(BlockersOf(Get(server)).size(), 40u);
}

TEST(Connection, TellsAnswersFromSilence) {
  Server server({{}, {grpc::StatusCode::UNAVAILABLE, "draining"}});
  EXPECT_EQ(ReasonOf(Get(server)), "UNREACHABLE");
  Server silent({{}, {}, true});
  const absl::Status status = Get(silent, nullptr, absl::Milliseconds(100));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(ReasonOf(status), "NO_ANSWER");
}

TEST(Connection, NobodyThereIsUnreachableAtOnce) {
  std::string address;
  { address = Server({}).address(); }
  v1::GetDropResponse reply;
  const absl::Status status =
      Open(address)->Call("Drops.GetDrop", v1::GetDropRequest(), reply, absl::Seconds(30));
  EXPECT_EQ(ReasonOf(status), "UNREACHABLE") << status;
}

TEST(Connection, WatchesAStreamToItsEnd) {
  Server server({{Drop("a"), Drop("b"), Drop("c")}, Detailed(0)});
  std::string seen;
  v1::GetDropResponse reply;
  const absl::Status status =
      Open(server.address())
          ->Watch("Drops.GetManifest", v1::GetDropRequest(), reply, absl::InfiniteDuration(), [&] {
            seen += reply.drop().drop_id();
            return true;
          });
  EXPECT_EQ(seen, "abc");
  EXPECT_EQ(ReasonOf(status), "HELD");
}

TEST(Connection, AStreamCanBeGivenUp) {
  Server server({{Drop("a"), Drop("b")}, grpc::Status::OK});
  int seen = 0;
  v1::GetDropResponse reply;
  EXPECT_TRUE(Open(server.address())
                  ->Watch("Drops.GetManifest", v1::GetDropRequest(), reply, absl::Seconds(30),
                          [&] { return ++seen < 1; })
                  .ok());
  EXPECT_EQ(seen, 1);
}

TEST(Connection, ATokenGoesOverTlsOrStaysOnTheMachine) {
  ConnectionOptions options;
  options.token = "secret";
  options.address = "interlock.example:7430";
  EXPECT_EQ(ReasonOf(Connection::Open(options).status()), "TOKEN_OVER_PLAIN_TEXT");
  options.authority_file = kSystemAuthorities;
  EXPECT_TRUE(Connection::Open(options).ok());
  options.authority_file = "";
  for (const char* address :
       {"127.0.0.1:7430", "127.9.9.9:1", "localhost:1", "[::1]:1", "unix:/x"}) {
    options.address = address;
    EXPECT_TRUE(Connection::Open(options).ok()) << address;
  }
  for (const char* address : {"127.example.com:1", "localhost.example.com:1", "10.0.0.1:1",
                              "[::2]:1", "dns:///127.0.0.1.example.com:1"}) {
    options.address = address;
    EXPECT_FALSE(Connection::Open(options).ok()) << address;
  }
}

TEST(Connection, AnAddressThatGrpcWouldMistakeIsRefused) {
  ConnectionOptions options;
  for (const char* address : {"", "interlock.example", "http://interlock.example:7430", ":7430",
                              "interlock.example:99999", "interlock.example:grpc"}) {
    options.address = address;
    EXPECT_EQ(ReasonOf(Connection::Open(options).status()), "ADDRESS_MALFORMED") << address;
  }
  for (const char* address : {"dns:///interlock.example:7430", "ipv4:10.0.0.1:7430", "[::2]:1"}) {
    options.address = address;
    EXPECT_TRUE(Connection::Open(options).ok()) << address;
  }
}

TEST(Connection, WhatNoHeaderCanCarryIsRefusedByFieldAndNotShown) {
  for (const char* bad : {"Jos\xc3\xa9", "abc\n", "\x7f"}) {
    ConnectionOptions options;
    options.caller = bad;
    EXPECT_EQ(ReasonOf(Connection::Open(options).status()), "NOT_ASCII");
    options.caller = "";
    options.token = bad;
    const absl::Status refused = Connection::Open(options).status();
    EXPECT_EQ(ReasonOf(refused), "NOT_ASCII");
    EXPECT_FALSE(absl::StrContains(refused.message(), bad));
  }
}

TEST(Connection, ATextThatIsNotUtf8IsRefusedByItsField) {
  const auto connection = Connection::Open({.address = "127.0.0.1:1"});
  ASSERT_TRUE(connection.ok());
  v1::ReserveIntervalRequest request;
  request.set_purpose(
      "gr\xf6\xdf"
      "er");
  v1::ReserveIntervalResponse reply;
  absl::Status refused =
      (*connection)->Call("IngestionCoordinator.ReserveInterval", request, reply, absl::Seconds(5));
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(refused), "NOT_UTF8");
  EXPECT_EQ(FaultsOf(refused).front().pointer, "/purpose");
  request.set_purpose(
      "gr\xc3\xb6\xc3\x9f"
      "er");
  request.add_intervals("2026");
  request.add_intervals("\xff");
  refused =
      (*connection)->Call("IngestionCoordinator.ReserveInterval", request, reply, absl::Seconds(5));
  EXPECT_EQ(FaultsOf(refused).front().pointer, "/intervals/1");
}

TEST(Utf8, IsWhatTheUnicodeStandardSays) {
  for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc2", "\xe0\x80\xaf", "\xed\xa0\x80", "\xe2\x82",
                          "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(Connection, SaysWhichFileItCannotRead) {
  ConnectionOptions options;
  options.authority_file = "/no/such/file";
  EXPECT_EQ(ReasonOf(Connection::Open(options).status()), "FILE_NOT_READABLE");
  options.authority_file = kSystemAuthorities;
  options.certificate_file = "/no/such/file";
  EXPECT_EQ(ReasonOf(Connection::Open(options).status()), "CERTIFICATE_WITHOUT_KEY");
}

}  // namespace
}  // namespace interlock::client
