// The services of the surface that this version does not fill in yet: registered, so that
// reflection shows them and a call gets NOT_YET_BUILT (call_observer.h) in place of an
// unknown service.
#pragma once

#include <vector>

#include "interlock/v1/findings.grpc.pb.h"

namespace interlock::server {

class UnbuiltServices {
 public:
  std::vector<grpc::Service*> All() { return {&findings_}; }

 private:
  v1::Findings::CallbackService findings_;
};

}  // namespace interlock::server
