// Segments in the metadata store: apache/druid, server/…/http/MetadataResource.java.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/cluster_impl.h"
#include "lib/druid/segment_reader.h"
#include "lib/druid/url.h"

namespace interlock::druid {
namespace {

// Rows of unusedSegments asked for at once.
constexpr int kUnusedPageRows = 1000;

std::string MetadataPath(const std::string& datasource, const std::string& rest) {
  return absl::StrCat("/druid/coordinator/v1/metadata/datasources/", EscapeUrl(datasource), rest);
}

// Has `call` read a list of segments while it arrives. A retry starts again, so what
// `start` undoes is what an earlier attempt left.
void ReadSegments(SegmentReader::Shape shape, const std::string& datasource,
                  const std::function<void()>& start, const SegmentReader::Sink& sink, Call* call) {
  struct Reading {
    std::unique_ptr<SegmentReader> reader;
    std::string foreign;
  };
  const auto reading = std::make_shared<Reading>();
  call->start_body = [=] {
    start();
    reading->foreign.clear();
    // Not the shared pointer: the reader is part of what it would keep alive.
    std::string* const foreign = &reading->foreign;
    reading->reader = std::make_unique<SegmentReader>(shape, [=](UnusedSegment& row) {
      if (row.segment.datasource != datasource && foreign->empty()) {
        *foreign = absl::StrCat("a segment of another datasource: ", row.segment.id);
      }
      sink(row);
    });
  };
  call->on_body = [=](absl::string_view piece) {
    return reading->reader->Feed(piece) && reading->foreign.empty();
  };
  call->read = [=](const HttpReply& reply) {
    // A transport without a wire may hand over the body in one.
    const bool fed = reading->reader->Feed(reply.body) && reading->foreign.empty();
    if (fed && !reply.cut_by_us) reading->reader->Finish();
    return reading->foreign.empty() ? reading->reader->reason() : reading->foreign;
  };
}

}  // namespace

Answer<int64_t> Cluster::ReadUsedSegments(const std::string& datasource,
                                          const std::vector<Interval>& intervals,
                                          const std::function<void()>& start,
                                          const std::function<void(Segment& segment)>& sink) {
  start();
  // Druid answers an empty list of intervals with 500.
  if (intervals.empty()) return Answer<int64_t>::Done(0);
  int64_t count = 0;
  Call call;
  call.endpoint = "segments_used";
  call.service = Service::kCoordinator;
  call.method = "POST";
  call.path = MetadataPath(datasource, "/segments?full");
  call.body = absl::StrCat("[",
                           absl::StrJoin(intervals, ",",
                                         [](std::string* out, const Interval& interval) {
                                           absl::StrAppend(out, "\"", interval.ToString(), "\"");
                                         }),
                           "]");
  ReadSegments(
      SegmentReader::Shape::kSegments, datasource,
      [&] {
        count = 0;
        start();
      },
      [&](UnusedSegment& row) {
        ++count;
        sink(row.segment);
      },
      &call);
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, count);
}

Answer<std::vector<Segment>> Cluster::ListUsedSegments(const std::string& datasource,
                                                       const std::vector<Interval>& intervals) {
  std::vector<Segment> segments;
  const Answer<int64_t> answer = ReadUsedSegments(
      datasource, intervals, [&] { segments.clear(); },
      [&](Segment& segment) { segments.push_back(std::move(segment)); });
  if (!answer.done()) return Answer<std::vector<Segment>>::Like(answer);
  Answer<std::vector<Segment>> listed = Answer<std::vector<Segment>>::Done(std::move(segments));
  listed.set_druid_time(answer.druid_time());
  return listed;
}

Answer<std::vector<UnusedSegment>> Cluster::ListUnusedSegments(const std::string& datasource,
                                                               const Interval& interval) {
  std::vector<UnusedSegment> all;
  std::string last_id;
  while (true) {
    std::vector<UnusedSegment> page;
    Call call;
    call.endpoint = "segments_unused";
    call.service = Service::kCoordinator;
    call.path = MetadataPath(
        datasource, absl::StrCat("/unusedSegments?interval=", EscapeUrl(interval.ToString()),
                                 "&limit=", kUnusedPageRows, "&sortOrder=ASC"));
    if (!last_id.empty()) absl::StrAppend(&call.path, "&lastSegmentId=", EscapeUrl(last_id));
    ReadSegments(
        SegmentReader::Shape::kUnusedRows, datasource, [&] { page.clear(); },
        [&](UnusedSegment& row) { page.push_back(std::move(row)); }, &call);
    const Answer<HttpReply> answer = impl_->caller.Send(call);
    if (!answer.done()) return WithValue(answer, std::move(all));
    const bool whole_page = page.size() >= kUnusedPageRows;
    if (whole_page && page.back().segment.id <= last_id) {
      return Answer<std::vector<UnusedSegment>>::Unknown(
          Cause::kGarbled, "unusedSegments: a page that does not go on after the one before");
    }
    if (!page.empty()) last_id = page.back().segment.id;
    std::move(page.begin(), page.end(), std::back_inserter(all));
    if (!whole_page) return WithValue(answer, std::move(all));
  }
}

namespace {

Call DatasourcesCall(const char* rest, std::vector<std::string>* names) {
  Call call;
  call.endpoint = "datasources";
  call.service = Service::kCoordinator;
  call.path = absl::StrCat("/druid/coordinator/v1/metadata/datasources", rest);
  call.read = ReadsJson([names](const rapidjson::Document& reply) {
    names->clear();
    if (!reply.IsArray()) return std::string("datasources that are no array");
    for (const auto& name : reply.GetArray()) {
      if (!name.IsString()) return std::string("a datasource that is no name");
      names->emplace_back(name.GetString(), name.GetStringLength());
    }
    return std::string();
  });
  return call;
}

}  // namespace

Answer<std::vector<std::string>> Cluster::ListDatasources() {
  std::vector<std::string> names;
  const Answer<HttpReply> answer = impl_->caller.Send(DatasourcesCall("", &names));
  return WithValue(answer, std::move(names));
}

Answer<std::vector<std::string>> Cluster::ListDatasourcesEver() {
  std::vector<std::string> names;
  // Its name up to 24, which later ones still take, and its name since.
  const Answer<HttpReply> answer =
      impl_->caller.Send(DatasourcesCall("?includeUnused&includeDisabled", &names));
  return WithValue(answer, std::move(names));
}

}  // namespace interlock::druid
