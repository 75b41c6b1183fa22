// Many sockets in one thread, each of a client that waits for its answer.
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace interlock::bench {

class Sockets {
 public:
  Sockets() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~Sockets() { close(epoll_); }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  void Add(int socket, uint64_t client) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = client;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event);
  }

  // Calls `on_readable(client)` for each that has something to read; waits for the first.
  template <class OnReadable>
  void Wait(OnReadable on_readable) {
    std::array<epoll_event, 256> events;
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1'000);
    for (int i = 0; i < count; ++i) on_readable(events[static_cast<size_t>(i)].data.u64);
  }

 private:
  const int epoll_;
};

}  // namespace interlock::bench
