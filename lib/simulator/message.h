// An HTTP request and its reply as the simulator's handlers see them. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace interlock::simulator {

struct Request {
  std::string method;
  std::string path;                               // decoded, without the query
  std::multimap<std::string, std::string> query;  // decoded; "flag" without '=' has ""
  std::string target;                             // path and query as they were sent
  std::string host;                               // the Host header
  std::string accept;                             // the Accept header; "" if none
  std::string body;

  // From what stands in the request line: path and query, decoded once. CivetWeb would
  // clean a path of what it thinks is wrong with it.
  void SetTarget(absl::string_view raw_path, absl::string_view raw_query);

  bool Has(const std::string& name) const { return query.count(name) > 0; }
  // The first value; "" if there is none.
  std::string Get(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  }
  // Druid's methods without @Produces answer 500 unless asked for JSON by name.
  bool AsksForJson() const { return accept.find("application/json") != std::string::npos; }
};

struct Reply {
  int status = 200;
  std::string content_type;  // "" sends no such header
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  static Reply Json(std::string body, int status = 200);
  // Druid often says application/json over a body that is none.
  static Reply Text(std::string body, int status, std::string content_type = "text/plain");
  static Reply Empty(int status, std::string content_type = "");
  // `{"error":"…"}` with 400, as Jackson's failures are reported.
  static Reply BadRequest(absl::string_view error);
  // A DruidException's body.
  static Reply DruidError(int status, absl::string_view code, absl::string_view category,
                          absl::string_view message);
  // Jetty's page for what nobody caught: HTML, or JSON for who asks for that.
  static Reply ErrorPage(const Request& request, int status, const std::string& message);
};

}  // namespace interlock::simulator
