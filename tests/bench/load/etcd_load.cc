// etcd: a lease, then a key under it that must not be there yet. It has no overlap: the
// key is the interval's text, and nobody asks for another that meets it.
#include "grpcpp/support/status.h"
#include "tests/bench/load/etcd.grpc.pb.h"
#include "tests/bench/load/grpc_chains.h"

namespace interlock::bench {
namespace {

constexpr int kTtlSeconds = 6 * 3600;

class EtcdClient {
 public:
  EtcdClient(const Plan& plan, Meter& meter, const std::shared_ptr<grpc::Channel>& channel,
             std::function<void()> done)
      : plan_(plan),
        meter_(meter),
        done_(std::move(done)),
        leases_(etcdserverpb::Lease::NewStub(channel)),
        keys_(etcdserverpb::KV::NewStub(channel)) {
    grant_.set_ttl(kTtlSeconds);
  }

  void Start() {
    number_ = meter_.Next();
    if (number_ < 0) return done_();
    context_.emplace();
    sent_ = Clock::now();
    leases_->async()->LeaseGrant(&*context_, &grant_, &granted_,
                                 [this](const grpc::Status& status) {
                                   status.ok() ? Create() : Fail(status.error_message());
                                 });
  }

 private:
  void Create() {
    const Slot slot = SlotsOf(plan_, static_cast<uint64_t>(number_)).front();
    const std::string key =
        plan_.datasource + "/" + std::to_string(slot.start) + "/" + std::to_string(slot.end);
    transaction_.Clear();
    auto* absent = transaction_.add_compare();
    absent->set_target(etcdserverpb::Compare::CREATE);
    absent->set_key(key);
    absent->set_create_revision(0);
    auto* put = transaction_.add_success()->mutable_request_put();
    put->set_key(key);
    put->set_value("bench: nightly backfill");
    put->set_lease(granted_.id());
    context_.emplace();
    keys_->async()->Txn(&*context_, &transaction_, &done_transaction_,
                        [this](const grpc::Status& status) { Created(status); });
  }

  void Created(const grpc::Status& status) {
    if (!status.ok() || !done_transaction_.succeeded()) return Fail(status.error_message());
    meter_.Answered(sent_);
    Start();
  }

  void Fail(const std::string& why) {
    meter_.Failed("etcd: " + why);
    done_();
  }

  const Plan& plan_;
  Meter& meter_;
  const std::function<void()> done_;
  const std::unique_ptr<etcdserverpb::Lease::Stub> leases_;
  const std::unique_ptr<etcdserverpb::KV::Stub> keys_;
  etcdserverpb::LeaseGrantRequest grant_;
  etcdserverpb::LeaseGrantResponse granted_;
  etcdserverpb::TxnRequest transaction_;
  etcdserverpb::TxnResponse done_transaction_;
  std::optional<grpc::ClientContext> context_;
  int64_t number_ = 0;
  Clock::time_point sent_;
};

}  // namespace

void LoadEtcd(const Plan& plan, Meter& meter) { RunChains<EtcdClient>(plan, meter); }

}  // namespace interlock::bench
