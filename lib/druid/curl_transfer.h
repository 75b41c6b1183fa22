// One exchange of CurlTransport: what the asking thread and the IO thread share.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <string>

#include "lib/druid/curl_transport.h"
#include "lib/druid/transport.h"
#include "lib/time/mutex.h"

namespace interlock::druid {

class CurlTransfer {
 public:
  CurlTransfer(const HttpRequest& request, const CurlTransportOptions& options);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  CURL* easy() const { return easy_; }

  // --- The asking thread ------------------------------------------------------------
  // Waits for the next piece of the body. False when there will be none: the exchange
  // has ended. `held_back` is set where the IO thread waits to be resumed.
  bool NextPiece(std::string* piece, bool* held_back);
  // The reply, but for what NextPiece gave. After NextPiece said false.
  HttpReply TakeReply();
  bool streams() const;   // the pieces are on_body's: a 2xx reply of such a request
  void StopByConsumer();  // notes that on_body wants no more

  // --- The IO thread ----------------------------------------------------------------
  void Finish(CURLcode code);
  void FinishUnsent(const std::string& why);

 private:
  static size_t OnPiece(char* data, size_t size, size_t count, void* self);
  size_t Keep(const char* data, size_t size);
  void SetOptions(const CurlTransportOptions& options);
  void SetBody();
  std::string Header(const char* name) const;
  std::string Error(CURLcode code) const;

  const HttpRequest& request_;  // the asking thread waits: it outlives this
  CURL* const easy_;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {0};
  int64_t received_ = 0;  // IO thread only

  mutable Mutex mutex_;
  CondVar changed_;
  std::string waiting_ INTERLOCK_GUARDED_BY(mutex_);  // received, not taken yet
  bool held_back_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool streams_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool cut_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::string cut_reason_ INTERLOCK_GUARDED_BY(mutex_);
  bool done_ INTERLOCK_GUARDED_BY(mutex_) = false;
  HttpReply reply_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::druid
