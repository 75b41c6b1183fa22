#include "lib/druid/curl_transfer.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace interlock::druid {
namespace {

// Half of Jetty's shortest usual idle time: a connection that old is likely to be closed
// while we write to it.
constexpr long kMaxIdleConnectionSeconds = 60;
constexpr long kReceiveBufferBytes = 256 << 10;

bool HasContentType(const std::vector<std::string>& headers) {
  for (const std::string& header : headers) {
    if (absl::StartsWithIgnoreCase(header, "content-type:")) return true;
  }
  return false;
}

}  // namespace

CurlTransfer::CurlTransfer(const HttpRequest& request, const CurlTransportOptions& options)
    : request_(request), easy_(curl_easy_init()) {
  SetOptions(options);
  SetBody();
}

CurlTransfer::~CurlTransfer() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
}

void CurlTransfer::SetOptions(const CurlTransportOptions& options) {
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  // Else ending a transfer would wait for its name to be resolved.
  curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_MAXAGE_CONN, kMaxIdleConnectionSeconds);
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, kReceiveBufferBytes);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.deadline.count()));
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.connect_deadline.count()));
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &CurlTransfer::OnPiece);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  if (!options.ca_file.empty()) {
    curl_easy_setopt(easy_, CURLOPT_CAINFO, options.ca_file.c_str());
  }
  // On a kept connection that dies before a byte of the reply, libcurl sends the request
  // again; on a fresh one it does not.
  if (request_.once) curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
}

void CurlTransfer::SetBody() {
  for (const std::string& header : request_.headers) {
    headers_ = curl_slist_append(headers_, header.c_str());
  }
  // Taken out of what libcurl adds: a second's wait for "100 Continue", and a type that
  // makes Druid answer 415 where a POST has no body.
  headers_ = curl_slist_append(headers_, "Expect:");
  if (!HasContentType(request_.headers)) headers_ = curl_slist_append(headers_, "Content-Type:");
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  if (request_.method == "GET") return;
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.c_str());
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request_.body.size()));
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

size_t CurlTransfer::OnPiece(char* data, size_t size, size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->Keep(data, size * count);
}

size_t CurlTransfer::Keep(const char* data, size_t size) {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  const MutexLock lock(mutex_);
  if (cut_) return 0;
  // A piece that is refused comes again, whole, when the transfer is resumed.
  if (static_cast<int64_t>(waiting_.size()) >= CurlTransport::kMaxWaitingBytes) {
    held_back_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  received_ += static_cast<int64_t>(size);
  if (received_ > request_.max_reply_bytes) {
    cut_ = true;
    cut_reason_ = absl::StrCat("the reply is larger than ", request_.max_reply_bytes, " bytes");
    return 0;
  }
  streams_ = request_.on_body != nullptr && status / 100 == 2;
  waiting_.append(data, size);
  changed_.NotifyAll();
  return size;
}

bool CurlTransfer::NextPiece(std::string* piece, bool* held_back) {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !done_) changed_.Wait(lock);
  piece->clear();
  std::swap(*piece, waiting_);
  *held_back = std::exchange(held_back_, false);
  return !piece->empty();
}

bool CurlTransfer::streams() const {
  const MutexLock lock(mutex_);
  return streams_;
}

void CurlTransfer::StopByConsumer() {
  const MutexLock lock(mutex_);
  if (cut_) return;
  cut_ = true;
  cut_reason_ = "the reader of the body wants no more of it";
}

HttpReply CurlTransfer::TakeReply() {
  const MutexLock lock(mutex_);
  return std::move(reply_);
}

std::string CurlTransfer::Header(const char* name) const {
  curl_header* header = nullptr;
  if (curl_easy_header(easy_, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return "";
  return header->value;
}

std::string CurlTransfer::Error(CURLcode code) const {
  return error_[0] != '\0' ? error_ : curl_easy_strerror(code);
}

void CurlTransfer::Finish(CURLcode code) {
  long status = 0;
  long sent_bytes = 0;
  curl_off_t took_us = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy_, CURLINFO_REQUEST_SIZE, &sent_bytes);
  curl_easy_getinfo(easy_, CURLINFO_TOTAL_TIME_T, &took_us);
  const MutexLock lock(mutex_);
  reply_.took = std::chrono::milliseconds(took_us / 1000);
  reply_.cut_by_us = cut_;
  if (code == CURLE_OK && !cut_) {
    reply_.exchange = HttpReply::Exchange::kWhole;
    reply_.status = static_cast<int>(status);
    reply_.content_type = Header("Content-Type");
    reply_.location = Header("Location");
    reply_.date = Header("Date");
  } else {
    reply_.exchange =
        sent_bytes > 0 ? HttpReply::Exchange::kBroken : HttpReply::Exchange::kNotConnected;
    reply_.error = cut_ ? cut_reason_ : Error(code);
  }
  done_ = true;
  changed_.NotifyAll();
}

void CurlTransfer::FinishUnsent(const std::string& why) {
  const MutexLock lock(mutex_);
  reply_.exchange = HttpReply::Exchange::kNotConnected;
  reply_.error = why;
  done_ = true;
  changed_.NotifyAll();
}

}  // namespace interlock::druid
