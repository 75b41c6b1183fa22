// `verify`: what is true of an interval.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"
#include "client/cli/field_text.h"
#include "client/cli/lease_flags.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/ingestion_coordinator.pb.h"

namespace interlock::cli {
namespace {

// "at level SERVED", where all partitions have reached one.
std::string LevelText(const v1::VerifySingleVersionResponse& reply) {
  return reply.level() == v1::Proof::LEVEL_UNSPECIFIED
             ? ""
             : absl::StrCat(", at level ", v1::Proof::Level_Name(reply.level()));
}

// What is wrong with the first partition that is not good.
std::string WorstPartition(const v1::VerifySingleVersionResponse& reply) {
  for (const auto& partition : reply.partitions()) {
    if (partition.good() || partition.verdicts().empty()) continue;
    const v1::Verdict& worst = partition.verdicts(0);
    return absl::StrCat(
        ShortInterval(partition.partition()), ": ",
        worst.message().empty() ? v1::Verdict::Kind_Name(worst.kind()) : worst.message(),
        worst.remedy().empty() ? "" : "; ", worst.remedy(), "; ");
  }
  return "";
}

// `DUPLICATE_ROWS: 2026-07-16T13: 60 rows where 30 are expected; 1 of 24 partitions is not
// good`. What is expected of all partitions together is wrong with none of them: the notices
// say it.
std::string WhyNot(const v1::VerifySingleVersionResponse& reply) {
  std::string line =
      absl::StrCat(v1::Verdict::Kind_Name(reply.verdict()), ": ", WorstPartition(reply));
  const int64_t bad = reply.partition_count() - reply.good_count();
  if (bad > 0) {
    return absl::StrCat(line, bad, " of ", reply.partition_count(), " partition(s) not good");
  }
  std::vector<std::string> why;
  for (const auto& notice : reply.notices()) {
    why.push_back(
        absl::StrCat(notice.message(), notice.remedy().empty() ? "" : "; ", notice.remedy()));
  }
  return absl::StrCat(line, absl::StrJoin(why, "; "));
}

std::string Headline(const v1::VerifySingleVersionResponse& reply) {
  return absl::StrCat(v1::Verdict::Kind_Name(reply.verdict()), ": ", reply.good_count(), " of ",
                      reply.partition_count(), " partition(s) good",
                      reply.good() || reply.good_count() < reply.partition_count()
                          ? ""
                          : " by themselves, and not together",
                      LevelText(reply), ", read at ", FieldText(reply, "snapshot_time"), "\n");
}

}  // namespace

absl::StatusOr<int> RunVerify(Session& session) {
  v1::VerifySingleVersionRequest request;
  for (const absl::Status& status : {CheckLease(session.arguments), session.Fill(request)}) {
    if (!status.ok()) return status;
  }
  v1::VerifySingleVersionResponse reply;
  const absl::Duration wait =
      absl::Seconds(request.wait().seconds()) + absl::Nanoseconds(request.wait().nanos());
  const absl::Status status = session.Call(session.verb.method, request, reply, wait);
  if (!status.ok()) return status;
  if (session.output == Output::kTable) session.PrintLine(Headline(reply));
  session.Print(reply, session.verb.view);
  const ExitCode code = ExitCodeOf(reply);
  if (code != kDone) session.Complain(WhyNot(reply));
  return code;
}

}  // namespace interlock::cli
