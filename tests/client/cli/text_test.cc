// Fields, tables, JSON and error lines as they are printed.
#include <chrono>
#include <string>

#include "client/cli/error_line.h"
#include "client/cli/field_text.h"
#include "client/cli/print.h"
#include "client/cli/text_table.h"
#include "gtest/gtest.h"
#include "interlock/v1/backfill.pb.h"
#include "interlock/v1/drop.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/partition.pb.h"
#include "interlock/v1/server.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

TEST(ShortInterval, PrintsAWholeUnitAsItCanBeTyped) {
  EXPECT_EQ(ShortInterval("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"), "2026-07-16T13");
  EXPECT_EQ(ShortInterval("2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z"), "2026-07-16");
  EXPECT_EQ(ShortInterval("2026-02-01T00:00:00.000Z/2026-03-01T00:00:00.000Z"), "2026-02");
  EXPECT_EQ(ShortInterval("2026-01-01T00:00:00.000Z/2027-01-01T00:00:00.000Z"), "2026");
}

TEST(ShortInterval, LeavesNothingOutThatIsNotZero) {
  EXPECT_EQ(ShortInterval("2026-07-16T13:00:00.000Z/2026-07-16T13:30:00.000Z"),
            "2026-07-16T13:00Z/2026-07-16T13:30Z");
  EXPECT_EQ(ShortInterval("2026-07-16T13:00:01.000Z/2026-07-16T13:30:00.250Z"),
            "2026-07-16T13:00:01Z/2026-07-16T13:30:00.250Z");
  EXPECT_EQ(ShortInterval("a path/that is no interval, but as long as one is"),
            "a path/that is no interval, but as long as one is");
  EXPECT_EQ(ShortInterval(""), "");
}

TEST(FieldText, SaysRowsAsCountedAndExpected) {
  v1::Partition partition;
  auto* rows = partition.mutable_proof()->add_rows();
  rows->set_result(v1::RowCheck::EQUAL);
  rows->mutable_counted()->set_long_value(30);
  rows->mutable_expected()->set_long_value(30);
  EXPECT_EQ(FieldText(partition, "proof.rows"), "30");
  rows->set_result(v1::RowCheck::MORE);
  rows->mutable_counted()->set_long_value(60);
  EXPECT_EQ(FieldText(partition, "proof.rows"), "60 of 30");
  rows->set_result(v1::RowCheck::UNKNOWN);
  rows->clear_counted();
  EXPECT_EQ(FieldText(partition, "proof.rows"), "? of 30");
}

TEST(FieldText, IsEmptyForWhatIsNotSetAndNotForZero) {
  v1::Partition partition;
  EXPECT_EQ(FieldText(partition, "state"), "");
  EXPECT_EQ(FieldText(partition, "state_time"), "");
  EXPECT_EQ(FieldText(partition, "attempt_count"), "0");
  partition.set_state(v1::Partition::DONE);
  EXPECT_EQ(FieldText(partition, "state"), "DONE");
}

TEST(FieldText, NamesAHolderInOneCell) {
  v1::Partition partition;
  auto* blocker = partition.add_blockers();
  blocker->set_reason("HELD");
  blocker->set_holder("auditor");
  blocker->set_purpose("quarter");
  blocker->mutable_until_time()->set_seconds(0);
  blocker->set_blocking(true);
  EXPECT_EQ(FieldText(partition, "blockers"),
            "HELD by auditor (quarter) until 1970-01-01T00:00:00Z");
}

TEST(TextTable, LinesUpAndLeavesEmptyColumnsOut) {
  TextTable table({"A", "EMPTY", "LAST"});
  table.Add({"größer", "", "x"});
  table.Add({"b", "", "y"});
  EXPECT_EQ(table.Text(), "A       LAST\ngrößer  x\nb       y\n");
  EXPECT_EQ(TextTable({"A"}).Text(), "");
}

TEST(TextTable, FitsATerminalBelowItselfAndNeverCutsWhatPeopleCopy) {
  TextTable table({"ID", "MESSAGE", "LAST"});
  table.Add({"0123456789abcdef", "one two three größer five", "x"});
  EXPECT_EQ(table.Text(40),
            "ID                MESSAGE           LAST\n"
            "0123456789abcdef  one two three     x\n"
            "                  größer five\n");
  EXPECT_EQ(table.Text(0), table.Text(1'000));
  // What does not fit at all is as narrow as can be read.
  EXPECT_EQ(table.Text(3),
            "ID                MESSAGE   LAST\n"
            "0123456789abcdef  one two   x\n"
            "                  three\n"
            "                  größer\n"
            "                  five\n");
}

TEST(TextTable, ShowsControlCharactersAndDoesNotObeyThem) {
  TextTable table({"A", "B"});
  table.Add({"a", "one\n\x1b[31mtwo\x7f"});
  EXPECT_EQ(table.Text(), "A  B\na  one ?[31mtwo?\n");
}

TEST(TextTable, CutsAWordThatIsWiderThanItsColumn) {
  TextTable table({"A", "B"});
  table.Add({"a", "äöüäöüäöüäöü"});
  EXPECT_EQ(table.Text(11), "A  B\na  äöüäöüäö\n   üäöü\n");
}

TEST(JsonText, HasTheProtosNamesAndFieldsAtTheirDefault) {
  v1::ReserveIntervalResponse reply;
  reply.mutable_reservation()->set_fencing_token(7);
  const std::string text = JsonText(reply);
  EXPECT_NE(text.find("\"fencing_token\":\"7\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"reservation_id\":\"\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"attached\":false"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(JsonText, AListCanBeAddedToAMessage) {
  v1::Partition partition;
  v1::MetricSum sum;
  sum.set_metric("m");
  const std::vector<v1::MetricSum> sums = {sum, sum};
  const std::string text = JsonTextWith(partition, "more", sums);
  EXPECT_NE(text.find(",\"more\":[{\"metric\":\"m\"},{\"metric\":\"m\"}]}"), std::string::npos)
      << text;
}

TEST(TableText, NamesNumbersThatSayNothingWithoutTheirNames) {
  v1::Backfill backfill;
  backfill.mutable_expect()->set_rows(31);
  backfill.mutable_expect()->set_max_unparseable(0);
  backfill.mutable_expect()->set_count_metric("events");
  backfill.mutable_rows()->set_processed(30);
  v1::Drop drop;
  drop.mutable_manifest()->set_segment_count(1);
  EXPECT_EQ(TableText(drop, {{""}}), "manifest  segment_count 1\n");
  const std::string text = TableText(backfill, {{""}});
  EXPECT_EQ(text,
            "expect  rows 31, max_unparseable 0, count_metric events\n"
            "rows    processed 30\n");
}

TEST(TableText, ShowsAMapInTheOrderOfItsKeys) {
  v1::GetStatusResponse reply;
  for (const char* name : {"floor", "max_ttl", "min_window", "default_ttl"}) {
    (*reply.mutable_limits())[name] = "1h";
  }
  EXPECT_EQ(TableText(reply, {{"limits", {{"LIMIT", "key"}}}}),
            "LIMIT\ndefault_ttl\nfloor\nmax_ttl\nmin_window\n");
}

TEST(TableText, TellsNoticesAfterTheTables) {
  v1::ReserveIntervalResponse reply;
  reply.mutable_reservation()->set_reservation_id("r-1");
  auto* notice = reply.add_notices();
  notice->set_reason("UTC_ASSUMED");
  notice->set_message("taken as UTC");
  const std::string text = TableText(reply, {{"reservation"}});
  EXPECT_EQ(text, "reservation_id  r-1\nnote: UTC_ASSUMED: taken as UTC\n");
}

TEST(ErrorLine, NamesEachFaultWithItsPlace) {
  absl::Status status =
      WithReason(absl::InvalidArgumentError("the spec has 2 faults"), "SPEC_INVALID");
  AddFault(status, "/spec/ioConfig/appendToExisting", "is true", "set it to false");
  AddFault(status, "/spec/dataSchema/dataSource", "is missing", "");
  EXPECT_EQ(ErrorLine(status, ""),
            "SPEC_INVALID: the spec has 2 faults; /spec/ioConfig/appendToExisting: is true; set it "
            "to false; /spec/dataSchema/dataSource: is missing");
}

TEST(ErrorLine, NamesThePlaceOfEachOfSeveralThatAreMissing) {
  absl::Status status = WithReason(
      absl::InvalidArgumentError("the spec has 3 faults, the first: /spec/a is missing"), "X");
  AddFault(status, "/spec/a", "is missing; e.g. 1", "");
  AddFault(status, "/spec/a/b", "is missing; e.g. 2", "");
  AddFault(status, "/spec/b", "is missing; e.g. 2", "");
  EXPECT_EQ(ErrorLine(status, ""),
            "X: the spec has 3 faults, the first: /spec/a is missing; e.g. 1; /spec/a/b: is "
            "missing; e.g. 2; /spec/b: is missing; e.g. 2");
}

TEST(ErrorLine, WhatTheMessageSaysOfTheFirstFaultIsNotSaidAgain) {
  absl::Status status = WithReason(
      absl::InvalidArgumentError("the spec has 1 fault: /intervals splits an hour: rows are lost"),
      "SPEC_INVALID");
  // As it comes over the wire: what would do is behind the semicolon.
  AddFault(status, "/intervals", "splits an hour: rows are lost; widen it to 12/15", "");
  EXPECT_EQ(ErrorLine(status, ""),
            "SPEC_INVALID: the spec has 1 fault: /intervals splits an hour: rows are lost; widen "
            "it to 12/15");
}

TEST(ErrorLine, AFieldThatTheMessageNamesWithoutItsStrokeIsNotSaidAgain) {
  absl::Status status =
      WithReason(absl::InvalidArgumentError("expect/count_metric: 'event' is no column; name one"),
                 "UNKNOWN_METRIC");
  AddFault(status, "/expect/count_metric", "is no column", "name one");
  EXPECT_EQ(ErrorLine(status, ""),
            "UNKNOWN_METRIC: expect/count_metric: 'event' is no column; name one");
}

TEST(ErrorLine, NamesEachHolderOnceAndWhenToTryAgain) {
  absl::Status status = WithReason(
      absl::FailedPreconditionError("events is held by a (x) until noon; and 1 more"), "HELD");
  AddBlocker(status, "HELD", "events/1", "held by a (x) until noon");
  AddBlocker(status, "HELD", "events/2", "held by b (y) until one");
  status = WithRetryAfter(status, std::chrono::milliseconds(89'100));
  EXPECT_EQ(ErrorLine(status, ""),
            "HELD: events is held by a (x) until noon; and 1 more; HELD events/2: held by b (y) "
            "until one; try again in 1m30s");
}

TEST(ErrorLine, IsOneLineWhateverIsInIt) {
  EXPECT_EQ(ErrorLine(absl::InternalError("a\nb\r\nc"), ""), "INTERNAL: a b c");
}

TEST(ErrorLine, SaysWhereNobodyAnswers) {
  const std::string line =
      ErrorLine(WithReason(absl::UnavailableError("refused"), "UNREACHABLE"), "10.0.0.1:7430");
  EXPECT_NE(line.find("10.0.0.1:7430 does not answer (refused)"), std::string::npos) << line;
  EXPECT_NE(line.find("is interlockd running there?"), std::string::npos) << line;
}

TEST(ErrorLine, AConnectionThatIsNotKeptIsNoServerThatIsNotThere) {
  for (const char* said : {"Peer name 127.0.0.1 is not in peer certificate", "Socket closed",
                           "Ssl handshake failed", "Failed parsing HTTP/2"}) {
    const std::string line =
        ErrorLine(WithReason(absl::UnavailableError(said), "UNREACHABLE"), "10.0.0.1:7430");
    EXPECT_NE(line.find("does it want TLS (--ca"), std::string::npos) << line;
    EXPECT_EQ(line.find("is interlockd running"), std::string::npos) << line;
  }
}

TEST(ErrorLine, ShowsControlCharactersAndDoesNotObeyThem) {
  EXPECT_EQ(ErrorLine(absl::NotFoundError("a\x1b]0;title\x07 b\xc2\x9b"
                                          "31m c\tgr\xc3\xb6\xc3\x9f"
                                          "er\x7f"),
                      ""),
            "NOT_FOUND: a?]0;title? b?31m c?gr\xc3\xb6\xc3\x9f"
            "er?");
}

TEST(ErrorLine, OfACallThatWasNotAnsweredSaysWhetherItCanBeSentAgain) {
  const absl::Status unanswered = WithReason(absl::DeadlineExceededError("late"), "NO_ANSWER");
  const auto says = [&](Repeat repeat, const char* part) {
    return ErrorLine(unanswered, "", repeat).find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(Repeat::kSafely, "same --request-id"));
  EXPECT_FALSE(says(Repeat::kBlindly, "same --request-id")) << "none was given";
  EXPECT_TRUE(says(Repeat::kBlindly, "look what is there before you send it again"));
  EXPECT_TRUE(says(Repeat::kAsItIs, "ask again"));
}

}  // namespace
}  // namespace interlock::cli
