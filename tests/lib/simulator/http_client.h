// One HTTP exchange over a connection of its own, by libcurl: what a fault does to a reply
// on its way shows only there.
#pragma once

#include <string>

namespace interlock::simulator {

struct Exchange {
  int status = 0;  // 0: no whole reply came
  int error = 0;   // libcurl's code
  std::string body;
  std::string date;
  std::string location;
};

Exchange Fetch(const std::string& method, const std::string& url, const std::string& body = "");

}  // namespace interlock::simulator
