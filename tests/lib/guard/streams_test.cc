// Streams as they are declared, listed and forgotten.
#include "lib/guard/streams.h"

#include "gmock/gmock.h"
#include "tests/lib/guard/guard_site.h"

namespace interlock::guard {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kGuidesSpec[] =
    R"({"type":"kafka","spec":{"dataSchema":{"dataSource":"views"},"ioConfig":{"topic":"v"},)"
    R"("tuningConfig":{"type":"kafka","skipOffsetFromLatest":"PT1H"}}})";

Registration Named(const std::string& datasource) {
  Registration registration;
  registration.datasource = datasource;
  return registration;
}

std::string Refused(GuardSite& site, const Registration& registration) {
  const auto told = site.streams().Register(registration, false, GuardSite::Ada());
  return told.ok() ? "" : ReasonOf(told.status());
}

TEST(RegisterStream, ASpecAsTheGuidesWriteItGivesATailAndAWarning) {
  GuardSite site;
  Registration spec = Named("views");
  spec.supervisor_spec = kGuidesSpec;
  const auto told = site.Registered(spec);
  EXPECT_EQ(told.stream.name, "views");
  EXPECT_EQ(told.stream.tail.source, TailSource::kSkipOffsetDeclared);
  EXPECT_EQ(told.stream.tail.bound.length, absl::Hours(1));
  ASSERT_THAT(told.notices, SizeIs(1));
  EXPECT_EQ(told.notices[0].reason, "TAIL_NOT_ENFORCED");
  EXPECT_THAT(told.notices[0].remedy, HasSubstr("lateMessageRejectionPeriod"));
  // Druid has dropped it from the spec, and still it counts.
  site.druid().supervisors["views"] = {"views", "v", "", false, true};
  site.Look();
  EXPECT_EQ(site.All()[0].tail.source, TailSource::kSkipOffsetDeclared);
}

TEST(RegisterStream, ADryRunChangesNothing) {
  GuardSite site;
  Registration tail = Named("views");
  tail.tail = absl::Hours(2);
  const auto told = site.streams().Register(tail, /*validate_only=*/true, GuardSite::Ada());
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(told->stream.tail.bound.length, absl::Hours(2));
  EXPECT_THAT(site.All(), IsEmpty());
}

TEST(RegisterStream, AnOutsideStreamReportsItsTailAgainAndAgain) {
  GuardSite site;
  Registration report = Named("views");
  report.name = "flink";
  report.reported_start = At("2026-07-16T19:00Z");
  site.Registered(report);
  EXPECT_FALSE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z").ok());
  report.reported_start = At("2026-07-16T20:00Z");
  site.Registered(report);
  EXPECT_TRUE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z").ok());
}

TEST(RegisterStream, WhatCantBeDeclaredIsRefusedWithItsReason) {
  GuardSite site;
  site.druid().supervisors["views"] = {"views", "v", kLateHour, false, true};
  EXPECT_EQ(Refused(site, Named("views")), "TAIL_MISSING");
  Registration bad = Named("");
  bad.tail = absl::Hours(1);
  EXPECT_EQ(Refused(site, bad), "INVALID_DATASOURCE");
  Registration unknown = Named("views");
  unknown.supervisor_id = "nope";
  EXPECT_EQ(Refused(site, unknown), "UNKNOWN_SUPERVISOR");
  Registration other = Named("clicks");
  other.supervisor_id = "views";
  EXPECT_EQ(Refused(site, other), "OTHER_DATASOURCE");
  Registration spec = Named("clicks");
  spec.supervisor_spec = kGuidesSpec;
  EXPECT_EQ(Refused(site, spec), "OTHER_DATASOURCE");
  spec.supervisor_spec = "{";
  EXPECT_EQ(Refused(site, spec), "SPEC_INVALID");
}

TEST(RegisterStream, Case080ASecondSupervisorUnderTheSameNameIsAConflict) {
  GuardSite site;
  Registration first = Named("views");
  first.supervisor_spec = kGuidesSpec;
  site.Registered(first);
  site.druid().supervisors["views"] = {"views", "v", "", false, true};
  site.Look();
  Registration second = Named("views");
  second.supervisor_spec =
      R"({"type":"kafka","spec":{"dataSchema":{"dataSource":"views"},"ioConfig":{"topic":"w"}}})";
  EXPECT_EQ(Refused(site, second), "STREAM_CONFLICT");
  // Guards are keyed by datasource and stream: another name is another guard.
  Registration beside = Named("views");
  beside.name = "flink";
  beside.reported_start = At("2026-07-16T19:00Z");
  EXPECT_EQ(Refused(site, beside), "");
  EXPECT_THAT(site.All(), SizeIs(2));
}

TEST(RegisterStream, ASupervisorIsNotAskedWhereDruidIsAway) {
  GuardSite site;
  site.druid().away = true;
  Registration supervised = Named("views");
  supervised.supervisor_id = "views";
  EXPECT_EQ(Refused(site, supervised), "DRUID_UNAVAILABLE");
  // A declared tail needs nothing of Druid.
  Registration tail = Named("views");
  tail.tail = absl::Hours(1);
  EXPECT_EQ(Refused(site, tail), "");
}

TEST(RemoveStream, ASupervisorThatRunsStaysListedAsFound) {
  GuardSite site;
  site.druid().supervisors["views"] = {"views", "v", kLateHour, false, true};
  site.Look();
  Registration tail = Named("views");
  tail.name = "views";
  tail.tail = absl::Hours(48);
  EXPECT_EQ(site.Registered(tail).stream.tail.source, TailSource::kSetting);
  const auto left = site.streams().Remove("views", "", GuardSite::Ada());
  ASSERT_TRUE(left.ok()) << left.status();
  ASSERT_TRUE(left->has_value());
  EXPECT_EQ((*left)->stream.tail.source, TailSource::kLateMessageBound);
  EXPECT_FALSE(site.All()[0].is_declared);
}

TEST(RemoveStream, WhatIsNotDeclaredCantBeForgotten) {
  GuardSite site;
  EXPECT_EQ(ReasonOf(site.streams().Remove("views", "", GuardSite::Ada()).status()),
            "UNKNOWN_STREAM");
}

TEST(RemoveStream, ASettingThatIsForgottenRefusesNoMore) {
  GuardSite site;
  Registration tail = Named("views");
  tail.tail = absl::Hours(48);
  site.Registered(tail);
  EXPECT_FALSE(site.Reserve("2026-07-16T10:00Z/2026-07-16T11:00Z").ok());
  ASSERT_TRUE(site.streams().Remove("views", "", GuardSite::Ada()).ok());
  EXPECT_THAT(site.All(), IsEmpty());
  EXPECT_TRUE(site.Reserve("2026-07-16T10:00Z/2026-07-16T11:00Z").ok());
}

TEST(ListStreams, PagesGoOnWhereTheLastOneEnded) {
  GuardSite site;
  for (const char* name : {"a", "b", "c"}) {
    Registration tail = Named("views");
    tail.name = name;
    tail.tail = absl::Hours(1);
    site.Registered(tail);
  }
  auto page = site.streams().List("views", 2, "");
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->streams, SizeIs(2));
  page = site.streams().List("views", 2, page->next);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->streams, SizeIs(1));
  EXPECT_EQ(page->streams[0].stream.name, "c");
  EXPECT_EQ(page->next, "");
  EXPECT_EQ(ReasonOf(site.streams().List("views", 2, "x").status()), "BAD_PAGE_TOKEN");
}

}  // namespace
}  // namespace interlock::guard
