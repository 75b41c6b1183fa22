#include "client/cli/follow_backfill.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/field_text.h"
#include "client/cli/patience.h"
#include "client/cli/print.h"
#include "client/cli/progress.h"
#include "client/cli/verb_tables.h"
#include "client/cli/views.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

// Partitions that one call fetches.
constexpr int kPageSize = 1'000;

// Calls a method that only reads, for as long as patience lasts.
absl::Status Ask(Session& session, Patience& patience, const std::string& method,
                 const google::protobuf::Message& request, google::protobuf::Message& reply) {
  while (true) {
    absl::Status status = session.Call(method, request, reply);
    if (status.ok()) return status;
    if (absl::Status ended = patience.Again(status); !ended.ok()) return ended;
  }
}

absl::StatusOr<v1::GetBackfillResponse> Whole(Session& session, Patience& patience,
                                              const std::string& backfill_id) {
  v1::GetBackfillRequest request;
  request.set_backfill_id(backfill_id);
  request.set_page_size(kPageSize);
  v1::GetBackfillResponse whole;
  do {
    v1::GetBackfillResponse page;
    const auto status = Ask(session, patience, "Backfills.GetBackfill", request, page);
    if (!status.ok()) return status;
    *whole.mutable_backfill() = page.backfill();
    whole.mutable_partitions()->MergeFrom(page.partitions());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return whole;
}

// What to read in place of a backfill that is not good: the first partition that says why.
std::string WhyNot(const v1::GetBackfillResponse& ended) {
  const v1::Backfill& backfill = ended.backfill();
  if (!backfill.message().empty()) return backfill.message();
  for (const auto& partition : ended.partitions()) {
    const bool well = partition.state() == v1::Partition::DONE ||
                      partition.state() == v1::Partition::EMPTY ||
                      partition.state() == v1::Partition::SKIPPED;
    if (well) continue;
    return absl::StrCat(ShortInterval(partition.partition()), " is ",
                        v1::Partition::State_Name(partition.state()),
                        partition.reason().empty() ? "" : " ", partition.reason(),
                        partition.message().empty() ? "" : ": ", partition.message());
  }
  return "";
}

}  // namespace

bool IsSettled(v1::Backfill::State state, bool until_over) {
  switch (state) {
    case v1::Backfill::DONE:
    case v1::Backfill::FAILED:
    case v1::Backfill::CANCELLED:
    case v1::Backfill::ROLLED_BACK:
      return true;
    case v1::Backfill::NEEDS_ATTENTION:
      return !until_over;
    default:
      return false;
  }
}

std::string ChangeLine(const v1::WatchBackfillResponse& change) {
  if (change.has_partition()) {
    const v1::Partition& partition = change.partition();
    std::string line = absl::StrCat(ShortInterval(partition.partition()), "  ",
                                    v1::Partition::State_Name(partition.state()));
    for (const std::string& part : {partition.reason(), partition.task_id(), partition.message()}) {
      if (!part.empty()) absl::StrAppend(&line, "  ", part);
    }
    return line;
  }
  if (!change.has_backfill()) return "";
  const v1::Backfill& backfill = change.backfill();
  std::string line =
      absl::StrCat(backfill.backfill_id(), "  ", v1::Backfill::State_Name(backfill.state()));
  if (!backfill.message().empty()) absl::StrAppend(&line, "  ", backfill.message());
  return line;
}

absl::StatusOr<v1::GetBackfillResponse> FollowBackfill(
    Session& session, const std::string& backfill_id, int64_t from_revision, bool until_over,
    const std::function<void(const v1::WatchBackfillResponse&)>& on_change) {
  Patience patience(session);
  v1::WatchBackfillRequest request;
  request.set_backfill_id(backfill_id);
  request.set_from_revision(from_revision);
  request.set_until_over(until_over);
  while (true) {
    v1::WatchBackfillResponse change;
    const absl::Status watched =
        session.calls.Watch("Backfills.WatchBackfill", request, change, patience.left(), [&] {
          patience.Reached();
          if (change.revision() > 0) request.set_from_revision(change.revision());
          on_change(change);
          return true;
        });
    if (ReasonOf(watched) == "REVISION_TOO_OLD") {
      request.set_from_revision(0);
      continue;
    }
    if (!watched.ok()) {
      if (const absl::Status ended = patience.Again(watched); !ended.ok()) return ended;
      continue;
    }
    auto whole = Whole(session, patience, backfill_id);
    if (!whole.ok() || IsSettled(whole->backfill().state(), until_over)) return whole;
    if (const absl::Status ended = patience.Pause(); !ended.ok()) return ended;
  }
}

int PrintOutcome(Session& session, const v1::GetBackfillResponse& ended) {
  if (session.output == Output::kTable) {
    session.Print(ended, {BackfillRows("backfill"), PartitionRows("partitions")});
  } else {
    session.PrintLine(JsonTextWith(ended.backfill(), "partitions", ended.partitions()));
  }
  const ExitCode code = ExitCodeOf(ended.backfill());
  if (code != kDone) {
    const v1::Backfill& backfill = ended.backfill();
    const std::string reason = backfill.reason().empty() ? "BACKFILL_NOT_DONE" : backfill.reason();
    session.Complain(absl::StrCat(reason, ": backfill ", backfill.backfill_id(), " ended ",
                                  v1::Backfill::State_Name(backfill.state()), ": ", WhyNot(ended),
                                  "; 'interlockctl backfills get ", backfill.backfill_id(),
                                  " --attempts' tells more"));
  }
  return code;
}

absl::StatusOr<int> RunWatchBackfill(Session& session) {
  v1::WatchBackfillRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  const bool lines = session.output == Output::kTable || !request.until_over();
  ProgressDisplay display(session);
  const auto ended =
      FollowBackfill(session, request.backfill_id(), request.from_revision(), request.until_over(),
                     [&](const v1::WatchBackfillResponse& change) {
                       if (session.output == Output::kTable) {
                         display.Show(change, ProgressDisplay::Lines::kOnStdout);
                       } else if (lines) {
                         session.PrintLine(JsonText(change));
                       }
                     });
  display.End();
  if (!ended.ok()) return ended.status();
  if (!lines) return PrintOutcome(session, *ended);
  if (session.output == Output::kTable && session.width > 0) {
    v1::WatchBackfillResponse last;
    *last.mutable_backfill() = ended->backfill();
    session.PrintLine(ChangeLine(last));
  }
  return ExitCodeOf(ended->backfill());
}

}  // namespace interlock::cli
