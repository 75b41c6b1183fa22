// What a datasource has segments in, from their ids alone.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/url.h"

namespace interlock::druid {

Answer<IntervalContents> Cluster::ListUsedIntervals(const std::string& datasource) {
  const auto reader = std::make_shared<std::unique_ptr<IdListReader>>();
  Call call;
  call.endpoint = "segment_ids";
  call.service = Service::kCoordinator;
  call.path = absl::StrCat("/druid/coordinator/v1/metadata/datasources/", EscapeUrl(datasource),
                           "/segments");
  call.start_body = [reader, datasource] { *reader = std::make_unique<IdListReader>(datasource); };
  call.on_body = [reader](absl::string_view piece) { return (*reader)->Feed(piece); };
  call.read = [reader](const HttpReply& reply) {
    // A transport without a wire may hand over the body in one.
    if ((*reader)->Feed(reply.body) && !reply.cut_by_us) (*reader)->Finish();
    return (*reader)->reason();
  };
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer,
                   *reader == nullptr ? IntervalContents() : std::move((*reader)->contents()));
}

}  // namespace interlock::druid
