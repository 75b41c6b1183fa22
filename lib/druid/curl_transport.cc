#include "lib/druid/curl_transport.h"

#include <curl/curl.h>

#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "lib/druid/curl_transfer.h"
#include "lib/time/mutex.h"

namespace interlock::druid {
namespace {

// Of connections kept for the next request, over all services.
constexpr long kMaxKeptConnections = 64;
// Commands and timers of libcurl's own end the wait earlier.
constexpr int kLongestPollMs = 60'000;

void InitializeCurlOnce() {
  static const CURLcode kOnce = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(kOnce);
}

}  // namespace

using SharedTransfer = std::shared_ptr<CurlTransfer>;

// The IO thread. Only it touches the multi handle, and an easy handle while that is in
// it; the others leave commands.
class CurlTransport::Loop {
 public:
  Loop() : multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxKeptConnections);
    thread_ = std::thread([this] { Run(); });
  }
  ~Loop() {
    {
      const MutexLock lock(mutex_);
      stopped_ = true;
      changed_.NotifyAll();
    }
    curl_multi_wakeup(multi_);
    {
      MutexLock lock(mutex_);
      while (inside_ > 0) changed_.Wait(lock);
    }
    thread_.join();
    curl_multi_cleanup(multi_);
  }

  // Around all that other threads do here: the end waits for them.
  class Visit {
   public:
    explicit Visit(Loop& loop) : loop_(loop) {
      const MutexLock lock(loop_.mutex_);
      ++loop_.inside_;
    }
    ~Visit() {
      const MutexLock lock(loop_.mutex_);
      --loop_.inside_;
      loop_.changed_.NotifyAll();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Loop& loop_;
  };

  void Start(SharedTransfer transfer) { Order({Command::kStart, std::move(transfer)}); }
  void Resume(SharedTransfer transfer) { Order({Command::kResume, std::move(transfer)}); }
  void Cancel(SharedTransfer transfer) { Order({Command::kCancel, std::move(transfer)}); }

  void Pause(std::chrono::milliseconds duration) {
    const auto end = std::chrono::steady_clock::now() + duration;
    MutexLock lock(mutex_);
    while (!stopped_) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return;
      changed_.WaitFor(lock, left);
    }
  }

 private:
  struct Command {
    enum Kind { kStart, kResume, kCancel };
    Kind kind = kStart;
    SharedTransfer transfer;
  };

  void Order(Command command) {
    {
      const MutexLock lock(mutex_);
      if (!stopped_) {
        commands_.push_back(std::move(command));
      } else if (command.kind == Command::kStart) {
        command.transfer->FinishUnsent("the transport is being destroyed");
      }
    }
    curl_multi_wakeup(multi_);
  }

  void Run() {
    while (ObeyCommands()) {
      int running = 0;
      curl_multi_perform(multi_, &running);
      FinishEnded();
      curl_multi_poll(multi_, nullptr, 0, kLongestPollMs, nullptr);
    }
    while (!active_.empty()) End(*active_.begin(), CURLE_ABORTED_BY_CALLBACK);
  }

  // False when it is time to stop.
  bool ObeyCommands() {
    std::vector<Command> commands;
    bool go_on = false;
    {
      const MutexLock lock(mutex_);
      std::swap(commands, commands_);
      go_on = !stopped_;
    }
    for (Command& command : commands) {
      if (command.kind == Command::kStart) Add(std::move(command.transfer));
      // One that has ended meanwhile is none of `active_`.
      if (command.kind == Command::kResume && active_.count(command.transfer) != 0) {
        curl_easy_pause(command.transfer->easy(), CURLPAUSE_CONT);
      }
      if (command.kind == Command::kCancel && active_.count(command.transfer) != 0) {
        End(command.transfer, CURLE_WRITE_ERROR);
      }
    }
    return go_on;
  }

  void Add(SharedTransfer transfer) {
    const CURLMcode code = curl_multi_add_handle(multi_, transfer->easy());
    if (code != CURLM_OK) {
      transfer->FinishUnsent(curl_multi_strerror(code));
      return;
    }
    active_.insert(std::move(transfer));
  }

  void FinishEnded() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      CurlTransfer* raw = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &raw);
      for (const SharedTransfer& transfer : active_) {
        if (transfer.get() != raw) continue;
        End(transfer, code);
        break;
      }
    }
  }

  // `transfer` may be the set's own: it lives on in what is taken out.
  void End(const SharedTransfer& transfer, CURLcode code) {
    const auto taken = active_.extract(transfer);
    curl_multi_remove_handle(multi_, taken.value()->easy());
    taken.value()->Finish(code);
  }

  CURLM* const multi_;
  std::set<SharedTransfer> active_;  // IO thread only
  Mutex mutex_;
  CondVar changed_;
  std::vector<Command> commands_ INTERLOCK_GUARDED_BY(mutex_);
  bool stopped_ INTERLOCK_GUARDED_BY(mutex_) = false;
  int inside_ INTERLOCK_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

CurlTransport::CurlTransport(CurlTransportOptions options) : options_(std::move(options)) {
  InitializeCurlOnce();
  loop_ = std::make_unique<Loop>();
}

CurlTransport::~CurlTransport() = default;

void CurlTransport::Pause(std::chrono::milliseconds duration) {
  const Loop::Visit visit(*loop_);
  loop_->Pause(duration);
}

HttpReply CurlTransport::Send(const HttpRequest& request) {
  const Loop::Visit visit(*loop_);
  const auto transfer = std::make_shared<CurlTransfer>(request, options_);
  loop_->Start(transfer);
  std::string body;
  std::string piece;
  bool held_back = false;
  bool wanted = true;
  while (transfer->NextPiece(&piece, &held_back)) {
    // Resumed before the piece is read: the next one arrives meanwhile.
    if (held_back) loop_->Resume(transfer);
    if (!wanted) continue;
    if (!transfer->streams()) {
      body += piece;
    } else if (!request.on_body(piece)) {
      wanted = false;
      transfer->StopByConsumer();
      loop_->Cancel(transfer);
    }
  }
  HttpReply reply = transfer->TakeReply();
  reply.body = std::move(body);
  return reply;
}

}  // namespace interlock::druid
