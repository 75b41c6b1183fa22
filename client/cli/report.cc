// `report`: what was rerun and dropped in a period, by whom, why, with which results.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/exit_code.h"
#include "client/cli/field_text.h"
#include "client/cli/print.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/drops.pb.h"
#include "interlock/v1/seals.pb.h"

namespace interlock::cli {
namespace {

struct Report {
  std::vector<v1::Backfill> backfills;
  std::vector<v1::Drop> drops;
  std::vector<v1::Correction> corrections;
  std::vector<v1::CorrectionTotal> totals;
};

// All pages of a list; `take` keeps what a page has.
template <class Request, class Reply>
absl::Status AllPages(Session& session, const char* method, Request request,
                      const std::function<void(const Reply&)>& take) {
  do {
    Reply reply;
    absl::Status status = session.Call(method, request, reply);
    if (!status.ok()) return status;
    take(reply);
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

// The other lists, narrowed as the list of backfills is.
template <class Request>
Request Like(const v1::ListBackfillsRequest& asked) {
  Request request;
  request.set_datasource(asked.datasource());
  request.set_interval(asked.interval());
  if (asked.has_created_since_time()) {
    *request.mutable_created_since_time() = asked.created_since_time();
  }
  if (asked.has_created_until_time()) {
    *request.mutable_created_until_time() = asked.created_until_time();
  }
  return request;
}

absl::Status Gather(Session& session, const v1::ListBackfillsRequest& asked, Report& report) {
  absl::Status status = AllPages<v1::ListBackfillsRequest, v1::ListBackfillsResponse>(
      session, "Backfills.ListBackfills", asked, [&](const auto& page) {
        report.backfills.insert(report.backfills.end(), page.backfills().begin(),
                                page.backfills().end());
      });
  if (!status.ok()) return status;
  status = AllPages<v1::ListDropsRequest, v1::ListDropsResponse>(
      session, "Drops.ListDrops", Like<v1::ListDropsRequest>(asked), [&](const auto& page) {
        report.drops.insert(report.drops.end(), page.drops().begin(), page.drops().end());
      });
  if (!status.ok()) return status;
  return AllPages<v1::ListCorrectionsRequest, v1::ListCorrectionsResponse>(
      session, "Seals.ListCorrections", Like<v1::ListCorrectionsRequest>(asked),
      [&](const auto& page) {
        report.corrections.insert(report.corrections.end(), page.corrections().begin(),
                                  page.corrections().end());
        report.totals.insert(report.totals.end(), page.totals().begin(), page.totals().end());
      });
}

// A cell of a Markdown table: one line, and no bar that ends it.
std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"\r", ""}});
}

template <class Messages>
std::string MarkdownTable(const std::string& title, const Messages& messages,
                          const std::vector<Column>& columns) {
  std::string text = absl::StrCat("## ", title, "\n\n");
  if (messages.empty()) return text + "None.\n\n";
  std::string rule = "|";
  text += "|";
  for (const Column& column : columns) {
    absl::StrAppend(&text, " ", column.title, " |");
    rule += " --- |";
  }
  absl::StrAppend(&text, "\n", rule, "\n");
  for (const auto& message : messages) {
    text += "|";
    for (const Column& column : columns) {
      absl::StrAppend(&text, " ", Cell(FieldText(message, column.path)), " |");
    }
    text += "\n";
  }
  return text + "\n";
}

std::string Markdown(const v1::ListBackfillsRequest& asked, const Report& report) {
  std::string text = "# What was rerun\n\n";
  absl::StrAppend(
      &text, "Datasource: ", asked.datasource().empty() ? "all" : asked.datasource(), ". From ",
      asked.has_created_since_time() ? FieldText(asked, "created_since_time") : "the beginning",
      " to ", asked.has_created_until_time() ? FieldText(asked, "created_until_time") : "now",
      ".\n\n");
  text += MarkdownTable("Backfills", report.backfills,
                        {{"Asked", "create_time"},
                         {"By", "requested_by"},
                         {"Why", "request_reason"},
                         {"Datasource", "datasource"},
                         {"Intervals", "intervals"},
                         {"Job", "job"},
                         {"Result", "state"},
                         {"Partitions", "counts"},
                         {"What is wrong", "message"},
                         {"Id", "backfill_id"}});
  text += MarkdownTable("Drops", report.drops,
                        {{"Asked", "create_time"},
                         {"By", "requested_by"},
                         {"Why", "request_reason"},
                         {"Datasource", "datasource"},
                         {"Intervals", "intervals"},
                         {"Result", "state"},
                         {"Approved by", "approved_by"},
                         {"What is wrong", "message"},
                         {"Id", "drop_id"}});
  text += MarkdownTable("Corrections of what was given out", report.corrections,
                        {{"Number", "number"},
                         {"Proven", "create_time"},
                         {"By", "requested_by"},
                         {"Why", "reason"},
                         {"Datasource", "datasource"},
                         {"Interval", "interval"},
                         {"Given out as", "seal_label"},
                         {"Groups that differ", "delta_count"},
                         {"Backfill", "backfill_id"}});
  if (report.totals.empty()) return text;
  return text + MarkdownTable("What was given out, and what is right", report.totals,
                              {{"Sum of", "was.metric"},
                               {"Was", "was"},
                               {"Is now", "is_now"},
                               {"Difference", "delta"}});
}

template <class Messages>
std::string JsonList(const std::string& name, const Messages& messages) {
  std::string text = absl::StrCat("\"", name, "\":[");
  for (const auto& message : messages) {
    absl::StrAppend(&text, text.back() == '[' ? "" : ",", JsonText(message));
  }
  return text + "]";
}

}  // namespace

absl::StatusOr<int> RunReport(Session& session) {
  v1::ListBackfillsRequest asked;
  if (absl::Status status = session.Fill(asked); !status.ok()) return status;
  Report report;
  if (absl::Status status = Gather(session, asked, report); !status.ok()) return status;
  if (session.output == Output::kTable || session.arguments.Given("markdown")) {
    session.PrintLine(Markdown(asked, report));
  } else {
    session.PrintLine(absl::StrCat("{", JsonList("backfills", report.backfills), ",",
                                   JsonList("drops", report.drops), ",",
                                   JsonList("corrections", report.corrections), ",",
                                   JsonList("totals", report.totals), "}\n"));
  }
  return kDone;
}

}  // namespace interlock::cli
