#include "lib/druid/classify.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/lib/druid/canned_transport.h"

namespace interlock::druid {
namespace {

const Asked kSubmit{"POST /druid/indexer/v1/task", "a-2", /*submits=*/true};
const Asked kStatus{"GET /druid/indexer/v1/task/a-2/status", "a-2"};
const Asked kList{"GET /druid/indexer/v1/tasks", ""};

void ExpectVerdict(const Asked& asked, const HttpReply& reply, Outcome outcome, Cause cause) {
  const Verdict verdict = Classify(asked, reply);
  EXPECT_EQ(verdict.outcome, outcome) << reply.status << " " << reply.body << verdict.text;
  EXPECT_EQ(verdict.cause, cause) << reply.status << " " << reply.body << verdict.text;
}

TEST(Classify, Case066TakenIdsAreToldInTheWordsOfAllVersions) {
  for (const char* body :
       {R"({"error":"Task[a-2] already exists!"})", R"({"error":"Task [a-2] already exists."})",
        R"({"error":"druidException","errorCode":"entryAlreadyExists","persona":"USER",)"
        R"("category":"INVALID_INPUT","errorMessage":"Task[a-2] already exists","context":{}})"}) {
    ExpectVerdict(kSubmit, Reply(400, body), Outcome::kRefused, Cause::kAlreadyExists);
  }
}

TEST(Classify, Case066AnotherFaultThatNamesTheIdIsNoTakenId) {
  for (const char* body :
       {R"({"error":"Task[a-2] already exists! But another thing is wrong"})",
        R"({"error":"Task[a-22] already exists!"})",
        R"({"error":"Cannot construct instance of task a-2, problem: it already exists"})",
        R"({"error":"Invalid value for field [task ID]: Value [a-2] cannot contain '/'."})"}) {
    ExpectVerdict(kSubmit, Reply(400, body), Outcome::kRefused, Cause::kInvalid);
  }
}

TEST(Classify, ATakenIdIsOneOnlyWhereATaskIsSubmitted) {
  ExpectVerdict(kStatus, Reply(400, R"({"error":"Task[a-2] already exists!"})"), Outcome::kRefused,
                Cause::kInvalid);
}

TEST(Classify, Case076AFullQueueIs429OrThe500OfOlderVersions) {
  ExpectVerdict(kSubmit, Reply(429, R"({"error":"druidException","errorCode":"capacity"})"),
                Outcome::kRefused, Cause::kQueueFull);
  ExpectVerdict(kSubmit, Reply(500, R"({"error":"Too many tasks in the queue"})"),
                Outcome::kRefused, Cause::kQueueFull);
  ExpectVerdict(kStatus, Reply(500, R"({"error":"Too many tasks in the queue"})"),
                Outcome::kUnknown, Cause::kServerError);
}

TEST(Classify, NotFoundIsSaidInDruidsWordsOrNotAtAll) {
  for (const char* body :
       {"Cannot find any task with id: [a-2]", "Cannot find any task with id: [a-2]\n",
        R"({"task":"a-2","status":null})",
        "No task reports were found for this task. The task may not exist, or it may not have "
        "completed yet.",
        R"({"error":"druidException","errorCode":"notFound","errorMessage":"gone"})"}) {
    ExpectVerdict(kStatus, Reply(404, body, "text/plain"), Outcome::kNotFound, Cause::kNone);
  }
}

TEST(Classify, A404OfSomebodyElseIsUnknown) {
  for (const char* body :
       {"Cannot find any task with id: [a-3]", "<html><title>404 Not Found</title></html>",
        R"({"servlet":"default","message":"Not Found","url":"/x","status":"404"})",
        R"({"task":"a-3","status":null})", R"({"task":"a-2","status":{"status":"RUNNING"}})",
        "x"}) {
    ExpectVerdict(kStatus, Reply(404, body, "text/plain"), Outcome::kUnknown, Cause::kGarbled);
  }
  // A resource that states a type of nothing is there, and found nothing.
  ExpectVerdict(kStatus, Reply(404, "", "application/json"), Outcome::kUnknown, Cause::kGarbled);
  ExpectVerdict(kList, Reply(404, "Cannot find any task with id: []", "text/plain"),
                Outcome::kUnknown, Cause::kGarbled);
}

TEST(Classify, ABare404IsAPathThatThisVersionLacks) {
  ExpectVerdict(kStatus, Reply(404, "", ""), Outcome::kRefused, Cause::kUnsupported);
  ExpectVerdict(kStatus, Reply(405, "", ""), Outcome::kRefused, Cause::kUnsupported);
}

TEST(Classify, AProbeTakes400And405ForThePathItAskedAfter) {
  Asked probe = kList;
  probe.probe = true;
  ExpectVerdict(probe, Reply(400, "No filter provided"), Outcome::kDone, Cause::kNone);
  ExpectVerdict(probe, Reply(405, "", ""), Outcome::kDone, Cause::kNone);
  ExpectVerdict(probe, Reply(404, "", ""), Outcome::kRefused, Cause::kUnsupported);
  ExpectVerdict(probe, Reply(403, "Unauthorized"), Outcome::kRefused, Cause::kUnauthorized);
}

TEST(Classify, MissingPermissionIsRefused) {
  ExpectVerdict(kList, Reply(401, ""), Outcome::kRefused, Cause::kUnauthorized);
  ExpectVerdict(kList, Reply(403, "Unauthorized."), Outcome::kRefused, Cause::kUnauthorized);
}

TEST(Classify, WhatServersSayOfThemselvesIsUnknown) {
  ExpectVerdict(kList, Reply(503, "<html><title>Error 503</title></html>", "text/html"),
                Outcome::kUnknown, Cause::kNoLeader);
  ExpectVerdict(kList, Reply(500, "", ""), Outcome::kUnknown, Cause::kServerError);
  ExpectVerdict(kList, Reply(502, "<html>Bad Gateway</html>", "text/html"), Outcome::kUnknown,
                Cause::kServerError);
  ExpectVerdict(kList, Redirect("http://localhost:8081/druid/indexer/v1/tasks"), Outcome::kUnknown,
                Cause::kNoLeader);
}

TEST(Classify, NoReplyIsUnknownAndSaysWhetherSomethingWasSent) {
  ExpectVerdict(kSubmit, NotConnected(), Outcome::kUnknown, Cause::kUnreachable);
  ExpectVerdict(kSubmit, Lost(), Outcome::kUnknown, Cause::kLost);
  HttpReply cut = Lost();
  cut.cut_by_us = true;
  ExpectVerdict(kSubmit, cut, Outcome::kUnknown, Cause::kGarbled);
}

TEST(Classify, ALoginPageIsNoSuccess) {
  ExpectVerdict(kList, Reply(200, "<html>log in</html>", "text/html"), Outcome::kUnknown,
                Cause::kGarbled);
  ExpectVerdict(kList, Reply(200, "welcome", "application/json"), Outcome::kUnknown,
                Cause::kGarbled);
  // A redirect to one is not followed either.
  HttpReply moved = Redirect("https://login.example/");
  moved.status = 302;
  ExpectVerdict(kList, moved, Outcome::kUnknown, Cause::kGarbled);
}

TEST(Classify, OnlyAWholeSuccessIsDone) {
  ExpectVerdict(kList, Reply(200, "[]"), Outcome::kDone, Cause::kNone);
  ExpectVerdict(kList, Reply(204, ""), Outcome::kDone, Cause::kNone);
  ExpectVerdict(kList, Reply(102, ""), Outcome::kUnknown, Cause::kGarbled);
  ExpectVerdict(kList, Reply(418, "teapot"), Outcome::kUnknown, Cause::kGarbled);
}

TEST(Classify, TextsAreOneLineOfReadableBytes) {
  const Verdict verdict =
      Classify(kList, Reply(500, "line\n\xff\x01 end" + std::string(5000, 'x'), ""));
  EXPECT_THAT(verdict.text, testing::StartsWith("GET /druid/indexer/v1/tasks: 500 line ?  end"));
  EXPECT_LT(verdict.text.size(), 500u);
}

TEST(Classify, JettysErrorPagesAreReducedToTheirTitle) {
  const Verdict verdict =
      Classify(kList, Reply(500,
                            "<html><head><title>Error 500 java.lang.NullPointerException</title>"
                            "</head><body>long</body></html>",
                            "text/html"));
  EXPECT_EQ(verdict.text,
            "GET /druid/indexer/v1/tasks: 500 Error 500 java.lang.NullPointerException");
}

TEST(ParseHttpDate, ReadsTheDateHeader) {
  EXPECT_EQ(ParseHttpDate("Sun, 29 Nov 2026 17:51:07 GMT")->ToString(), "2026-11-29T17:51:07.000Z");
  EXPECT_FALSE(ParseHttpDate("yesterday").has_value());
  EXPECT_FALSE(ParseHttpDate("").has_value());
}

}  // namespace
}  // namespace interlock::druid
