// What `interlockctl doctor` asks: the cluster, once, with no effect on it; each answer
// with what was found and what to do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "interlock/v1/server.pb.h"
#include "lib/druid/cluster.h"
#include "lib/druid/cluster_options.h"
#include "lib/time/clock.h"

namespace interlock::server {

class Doctor {
 public:
  // Both must outlive it. `routers`: through which everything is asked; empty where each
  // service is asked directly.
  Doctor(druid::Cluster& cluster, const Clock& clock, druid::Access access,
         std::vector<std::string> routers = {})
      : cluster_(cluster), clock_(clock), access_(access), routers_(std::move(routers)) {}

  // Blocks for some calls to Druid. `datasources`: whose permissions are tried; none for
  // the first that Druid lists.
  void Diagnose(std::vector<std::string> datasources, v1::DiagnoseResponse& response);

 private:
  void CheckServices(v1::DiagnoseResponse& response);
  void CheckRouter(v1::DiagnoseResponse& response);
  void CheckCapabilities(v1::DiagnoseResponse& response);
  std::vector<std::string> CheckDatasources(v1::DiagnoseResponse& response);
  void CheckReads(const std::string& datasource, v1::DiagnoseResponse& response);
  void CheckRules(const std::string& datasource, v1::DiagnoseResponse& response);
  void CheckCompaction(const std::string& datasource, v1::DiagnoseResponse& response);
  void CheckWrite(const std::string& datasource, v1::DiagnoseResponse& response);
  void CheckStreams(v1::DiagnoseResponse& response);
  void CheckClock(v1::DiagnoseResponse& response);
  void CheckKillDuty(v1::DiagnoseResponse& response);

  druid::Cluster& cluster_;
  const Clock& clock_;
  const druid::Access access_;
  const std::vector<std::string> routers_;
};

}  // namespace interlock::server
