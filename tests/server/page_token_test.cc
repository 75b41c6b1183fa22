#include "server/page_token.h"

#include "gtest/gtest.h"
#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/drops.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

v1::ListBackfillsRequest Next(v1::ListBackfillsRequest request, const std::string& place) {
  request.set_page_token(PageToken(request, place));
  return request;
}

TEST(PageToken, StandsForItsPlaceInTheSameList) {
  v1::ListBackfillsRequest request;
  request.set_datasource("wiki");
  EXPECT_EQ(PagePlace(request).value(), "") << "the first page";
  EXPECT_EQ(PagePlace(Next(request, "7")).value(), "7");
  EXPECT_EQ(PagePlace(Next(request, "a.b.c")).value(), "a.b.c");
  v1::ListBackfillsRequest longer = Next(request, "7");
  longer.set_page_size(50);
  EXPECT_EQ(PagePlace(longer).value(), "7");
  EXPECT_EQ(PageToken(longer, "9"), Next(request, "9").page_token());
  EXPECT_EQ(PageToken(request, ""), "") << "there is no other page";
}

TEST(PageToken, IsNoneOfAnotherFilterOrList) {
  v1::ListBackfillsRequest request;
  request.set_datasource("wiki");
  v1::ListBackfillsRequest other = Next(request, "7");
  other.set_datasource("clicks");
  EXPECT_EQ(ReasonOf(PagePlace(other).status()), "BAD_PAGE_TOKEN");
  v1::ListDropsRequest drops;
  drops.set_datasource("wiki");
  drops.set_page_token(Next(request, "7").page_token());
  EXPECT_EQ(ReasonOf(PagePlace(drops).status()), "BAD_PAGE_TOKEN");
}

TEST(PageToken, WhatNoListHasGivenIsBadInput) {
  v1::ListBackfillsRequest request;
  for (const char* token : {"7", ".", "7.", "x.y", "-1"}) {
    request.set_page_token(token);
    EXPECT_EQ(ReasonOf(PagePlace(request).status()), "BAD_PAGE_TOKEN") << token;
  }
}

}  // namespace
}  // namespace interlock::server
