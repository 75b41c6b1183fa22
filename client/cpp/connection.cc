#include "client/cpp/connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cpp/channel.h"
#include "client/cpp/status_conversion.h"
#include "client/cpp/text_fields.h"
#include "google/protobuf/message.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/impl/codegen/proto_utils.h"

namespace interlock::client {
namespace {

using google::protobuf::Message;
using Stub = grpc::TemplatedGenericStub<Message, Message>;

// "Drops.GetDrop" as gRPC names it.
std::string Path(const std::string& method) {
  return absl::StrCat("/interlock.v1.", absl::StrReplaceAll(method, {{".", "/"}}));
}

// A length of time and not a moment: it holds whatever happens to the wall clock.
void SetTimeout(grpc::ClientContext& context, absl::Duration timeout) {
  if (timeout == absl::InfiniteDuration()) return;
  context.set_deadline(gpr_time_from_nanos(absl::ToInt64Nanoseconds(timeout), GPR_TIMESPAN));
}

void AddIdentity(grpc::ClientContext& context, const ConnectionOptions& options) {
  if (!options.caller.empty()) context.AddMetadata("interlock-caller", options.caller);
  if (!options.token.empty()) context.AddMetadata("authorization", "Bearer " + options.token);
}

// gRPC works at a connection only while somebody waits on it, and looks by itself each 5 s.
// Where calls fail at once because the last try to connect has failed, nobody waits, and a
// server that is back would be found that late: so a call between two tries waits a moment
// for the next.
void LetReconnect(grpc::Channel& channel, absl::Duration timeout) {
  constexpr absl::Duration kMoment = absl::Milliseconds(200);
  if (channel.GetState(true) != GRPC_CHANNEL_TRANSIENT_FAILURE) return;
  channel.WaitForStateChange(
      GRPC_CHANNEL_TRANSIENT_FAILURE,
      gpr_time_from_nanos(absl::ToInt64Nanoseconds(std::min(kMoment, timeout)), GPR_TIMESPAN));
}

// The queue of one call: what was asked of it is waited for, one thing at a time.
class Turn {
 public:
  ~Turn() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  grpc::CompletionQueue* queue() { return &queue_; }
  void* tag() { return this; }

  // True if what was begun last went well.
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

 private:
  grpc::CompletionQueue queue_;
};

}  // namespace

Connection::Connection(ConnectionOptions options, std::shared_ptr<grpc::Channel> channel)
    : options_(std::move(options)), channel_(std::move(channel)) {}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(ConnectionOptions options) {
  auto channel = OpenChannel(options);
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Connection>(new Connection(std::move(options), *std::move(channel)));
}

absl::Status Connection::Call(const std::string& method, const Message& request, Message& reply,
                              absl::Duration timeout) {
  if (absl::Status status = CheckTexts(request); !status.ok()) return status;
  LetReconnect(*channel_, timeout);
  grpc::ClientContext context;
  SetTimeout(context, timeout);
  AddIdentity(context, options_);
  const std::string path = Path(method);
  Stub stub(channel_);
  Turn turn;
  auto call = stub.PrepareUnaryCall(&context, path, request, turn.queue());
  grpc::Status status;
  call->StartCall();
  call->Finish(&reply, &status, turn.tag());
  turn.Wait();
  return FromGrpc(status);
}

absl::Status Connection::Watch(const std::string& method, const Message& request, Message& reply,
                               absl::Duration timeout, const std::function<bool()>& on_reply) {
  if (absl::Status status = CheckTexts(request); !status.ok()) return status;
  LetReconnect(*channel_, timeout);
  grpc::ClientContext context;
  SetTimeout(context, timeout);
  AddIdentity(context, options_);
  const std::string path = Path(method);
  Stub stub(channel_);
  Turn turn;
  auto stream = stub.PrepareCall(&context, path, turn.queue());
  stream->StartCall(turn.tag());
  bool wanted = turn.Wait();
  if (wanted) {
    stream->WriteLast(request, grpc::WriteOptions(), turn.tag());
    wanted = turn.Wait();
  }
  bool given_up = false;
  while (wanted) {
    stream->Read(&reply, turn.tag());
    if (!turn.Wait()) break;
    given_up = !on_reply();
    wanted = !given_up;
  }
  if (given_up) context.TryCancel();
  grpc::Status status;
  stream->Finish(&status, turn.tag());
  turn.Wait();
  return given_up ? absl::OkStatus() : FromGrpc(status);
}

}  // namespace interlock::client
