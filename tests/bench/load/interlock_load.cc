// Interlock: ReserveInterval with its full semantics, ListReservations by overlap, and
// CheckAppend of a micro-batch.
#include "grpcpp/support/status.h"
#include "interlock/v1/ingestion_coordinator.grpc.pb.h"
#include "interlock/v1/reservations.grpc.pb.h"
#include "interlock/v1/streams.grpc.pb.h"
#include "lib/time/instant.h"
#include "tests/bench/load/grpc_chains.h"

namespace interlock::bench {
namespace {

// Longer than any run: what expires is another load.
constexpr int kTtlSeconds = 6 * 3600;

std::string Text(Slot slot) {
  return Instant::FromMillis(slot.start).ToString() + "/" +
         Instant::FromMillis(slot.end).ToString();
}

class ReserveClient {
 public:
  ReserveClient(const Plan& plan, Meter& meter, const std::shared_ptr<grpc::Channel>& channel,
                std::function<void()> done)
      : plan_(plan),
        meter_(meter),
        done_(std::move(done)),
        stub_(v1::IngestionCoordinator::NewStub(channel)) {
    request_.set_datasource(plan.datasource);
    request_.set_purpose("nightly backfill");
    request_.mutable_ttl()->set_seconds(kTtlSeconds);
  }

  void Start() {
    const int64_t number = meter_.Next();
    if (number < 0) return done_();
    request_.clear_intervals();
    for (const Slot& slot : SlotsOf(plan_, static_cast<uint64_t>(number))) {
      request_.add_intervals(Text(slot));
    }
    request_.set_request_id(plan_.datasource + "-" + std::to_string(number));
    context_.emplace();
    sent_ = Clock::now();
    stub_->async()->ReserveInterval(&*context_, &request_, &reply_,
                                    [this](const grpc::Status& status) { Answered(status); });
  }

 private:
  void Answered(const grpc::Status& status) {
    if (status.ok() && reply_.reservation().fencing_token() > 0 &&
        reply_.reservation().intervals_size() == plan_.intervals) {
      meter_.Answered(sent_);
    } else {
      meter_.Failed("interlock: " + status.error_message());
    }
    Start();
  }

  const Plan& plan_;
  Meter& meter_;
  const std::function<void()> done_;
  const std::unique_ptr<v1::IngestionCoordinator::Stub> stub_;
  v1::ReserveIntervalRequest request_;
  v1::ReserveIntervalResponse reply_;
  std::optional<grpc::ClientContext> context_;
  Clock::time_point sent_;
};

class ListClient {
 public:
  ListClient(const Plan& plan, Meter& meter, const std::shared_ptr<grpc::Channel>& channel,
             std::function<void()> done)
      : plan_(plan),
        meter_(meter),
        done_(std::move(done)),
        stub_(v1::Reservations::NewStub(channel)) {
    request_.set_datasource(plan.datasource);
  }

  void Start() {
    const int64_t number = meter_.Next();
    if (number < 0) return done_();
    request_.set_interval(Text(SlotsOf(plan_, static_cast<uint64_t>(number)).front()));
    context_.emplace();
    sent_ = Clock::now();
    stub_->async()->ListReservations(&*context_, &request_, &reply_,
                                     [this](const grpc::Status& status) { Answered(status); });
  }

 private:
  void Answered(const grpc::Status& status) {
    if (status.ok() && reply_.reservations_size() == 1) {
      meter_.Answered(sent_);
    } else {
      meter_.Failed("interlock: listed " + std::to_string(reply_.reservations_size()) + " " +
                    status.error_message());
    }
    Start();
  }

  const Plan& plan_;
  Meter& meter_;
  const std::function<void()> done_;
  const std::unique_ptr<v1::Reservations::Stub> stub_;
  v1::ListReservationsRequest request_;
  v1::ListReservationsResponse reply_;
  std::optional<grpc::ClientContext> context_;
  Clock::time_point sent_;
};

// A micro-batch: instants that lie close together, as a stream's do.
class AppendClient {
 public:
  AppendClient(const Plan& plan, Meter& meter, const std::shared_ptr<grpc::Channel>& channel,
               std::function<void()> done)
      : plan_(plan), meter_(meter), done_(std::move(done)), stub_(v1::Streams::NewStub(channel)) {
    request_.set_datasource(plan.datasource);
    request_.set_stream("bench");
  }

  void Start() {
    const int64_t number = meter_.Next();
    if (number < 0) return done_();
    Plan one = plan_;
    one.intervals = 1;
    const Slot slot = SlotsOf(one, static_cast<uint64_t>(number)).front();
    request_.clear_timestamps_ms();
    for (int i = 0; i < plan_.intervals; ++i) {
      request_.add_timestamps_ms(slot.start + i % (slot.end - slot.start));
    }
    context_.emplace();
    sent_ = Clock::now();
    stub_->async()->CheckAppend(&*context_, &request_, &reply_,
                                [this](const grpc::Status& status) { Answered(status); });
  }

 private:
  void Answered(const grpc::Status& status) {
    if (status.ok() && reply_.decision() == v1::CheckAppendResponse::ALLOW) {
      meter_.Answered(sent_);
    } else {
      meter_.Failed("interlock: " + v1::CheckAppendResponse::Decision_Name(reply_.decision()) +
                    " " + status.error_message());
    }
    Start();
  }

  const Plan& plan_;
  Meter& meter_;
  const std::function<void()> done_;
  const std::unique_ptr<v1::Streams::Stub> stub_;
  v1::CheckAppendRequest request_;
  v1::CheckAppendResponse reply_;
  std::optional<grpc::ClientContext> context_;
  Clock::time_point sent_;
};

}  // namespace

void LoadInterlock(const Plan& plan, Meter& meter) { RunChains<ReserveClient>(plan, meter); }
void ListFromInterlock(const Plan& plan, Meter& meter) { RunChains<ListClient>(plan, meter); }

void AskInterlockToAppend(const Plan& plan, Meter& meter) { RunChains<AppendClient>(plan, meter); }

}  // namespace interlock::bench
