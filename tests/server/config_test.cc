#include "server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace interlock::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kGood[] = R"(
store { sqlite { path: "/tmp/interlock.db" } }
druid { router_urls: "http://localhost:8888" }
)";

auto FaultAt(int line, const std::string& text) {
  return Contains(AllOf(Field("line", &ConfigFault::line, line),
                        Field("text", &ConfigFault::text, HasSubstr(text))));
}

TEST(Config, TheLeastThatIsNeededGetsEveryDefault) {
  const CheckedConfig checked = CheckConfig(kGood);
  EXPECT_THAT(checked.faults, IsEmpty());
  EXPECT_EQ(checked.config.listen().address(), "127.0.0.1:7430");
  EXPECT_EQ(checked.config.listen().admin_address(), "127.0.0.1:7431");
  EXPECT_EQ(checked.config.drops().floor().seconds(), 14 * 24 * 3600);
  EXPECT_EQ(checked.config.drops().min_window().seconds(), 3600);
  EXPECT_EQ(checked.config.druid().access(), config::v1::Druid::MANAGE);
}

TEST(Config, SaysTheLineOfATextThatDoesNotParse) {
  EXPECT_THAT(CheckConfig("store {\n  sqlit { }\n}\n").faults, FaultAt(2, "sqlit"));
}

TEST(Config, EveryFieldThatThereIsNotIsToldWithThoseThatThereAre) {
  const auto faults = CheckConfig(R"(store { sqlite { path: "/tmp/interlock.db" } }
druid {
  acces: OBSERVE
  coordinator_url: "http://coordinator:8081"
}
)")
                          .faults;
  EXPECT_THAT(faults, FaultAt(3, "'acces' is no field of Druid; it has access, router_urls"));
  EXPECT_THAT(faults, FaultAt(4, "'coordinator_url' is no field of Druid"));
  EXPECT_THAT(faults, FaultAt(2, "has no address"));
}

TEST(Config, ALengthOfTimeThatIsABareNumberIsToldHowItIsWritten) {
  EXPECT_THAT(CheckConfig("druid {\n  call_timeout: 30\n}\n").faults,
              FaultAt(2, "{ seconds: 30 }"));
}

TEST(Config, AFaultOfAnAddressShowsNoSecretThatStandsInIt) {
  for (const char* url : {"http://ada:s3cret@druid:8081", "http://druid:8081?token=s3cret",
                          "http://druid:8081/base?token=s3cret#s3cret", "ada:s3cret@druid"}) {
    const auto faults = CheckConfig(absl::StrCat("store { sqlite { path: \"/tmp/i.db\" } }\n",
                                                 "druid { router_urls: \"", url, "\" }\n"))
                            .faults;
    EXPECT_THAT(faults, FaultAt(2, "is not a base URL")) << url;
    for (const ConfigFault& fault : faults) {
      EXPECT_THAT(fault.text, Not(HasSubstr("s3cret")));
    }
  }
  EXPECT_THAT(CheckConfig("druid { router_urls: \"http://ada:s3cret@druid:8081/x\" }\n").faults,
              FaultAt(1, "'http://…@druid:8081/x'"));
}

TEST(Config, WhatDruidsClientWouldRefuseIsToldByTheCheck) {
  const auto faults = CheckConfig(R"(store { sqlite { path: "/tmp/interlock.db" } }
druid {
  router_urls: "http://localhost:8888"
  redirect_patterns: "druid-*"
  basic_auth { user: "a:b" password_file: "x" }
})")
                          .faults;
  EXPECT_THAT(faults, FaultAt(4, "is no scheme://host:port"));
  EXPECT_THAT(faults, FaultAt(5, "has a colon"));
}

TEST(Config, LimitsThatNothingCouldMeetAreFaults) {
  const std::string limits = std::string(kGood) + "limits { ";
  EXPECT_THAT(
      CheckConfig(limits + "min_ttl { seconds: 3600 } default_ttl { seconds: 600 } }").faults,
      FaultAt(4, "min_ttl, default_ttl, max_ttl must rise, and are 1h, 10m, 24h"));
  EXPECT_THAT(CheckConfig(limits + "min_ttl { seconds: 90000 } }").faults,
              FaultAt(4, "must rise, and are 25h, 25h, 24h"));
  EXPECT_THAT(CheckConfig(limits + "max_ttl { seconds: 60 } }").faults, IsEmpty())
      << "the default goes along";
  EXPECT_THAT(CheckConfig(absl::StrCat(kGood, "limits { max_spec_bytes: 8388608 }")).faults,
              FaultAt(4, "is above 4194304"));
}

TEST(Config, APortBeyondTheHighestIsAFault) {
  const std::string listen = std::string(kGood) + "listen { address: \"127.0.0.1:";
  EXPECT_THAT(CheckConfig(listen + "65536\" }").faults, FaultAt(4, "listen.address"));
  EXPECT_THAT(CheckConfig(listen + "65535\" }").faults, IsEmpty());
}

TEST(Config, WindowsThatDoNotRiseAreToldWithTheirLengths) {
  EXPECT_THAT(CheckConfig(std::string(kGood) + "drops { min_window { seconds: 360000 } }").faults,
              FaultAt(4, "must rise, and are 100h, 72h, 8760h"));
}

TEST(Config, SaysAllFaultsAtOnceWithTheirLines) {
  const auto faults = CheckConfig(R"(listen { address: "here" }
druid {
  coordinator_urls: "coordinator:8081"
  broker_urls: "http://user:secret@broker:8082"
}
limits { max_intervals_per_call: -1 }
)")
                          .faults;
  EXPECT_THAT(faults, FaultAt(1, "listen.address"));
  EXPECT_THAT(faults, FaultAt(3, "druid.coordinator_urls"));
  EXPECT_THAT(faults, FaultAt(4, "basic_auth"));
  EXPECT_THAT(faults, FaultAt(6, "limits.max_intervals_per_call"));
  EXPECT_THAT(faults, FaultAt(0, "store"));
}

TEST(Config, GrpcListensBeyondLoopbackOnlyWhereCallersShowWhoTheyAreOrWhenToldTo) {
  const std::string open = std::string(kGood) + "listen { address: \"0.0.0.0:7430\"";
  const std::string files = R"( } tls { certificate_file: "c" key_file: "k" client_ca_file: "a" )";
  EXPECT_THAT(CheckConfig(open + " }").faults, FaultAt(4, "beyond loopback"));
  EXPECT_THAT(CheckConfig(open + files + "}").faults, FaultAt(4, "require_client_certificate"));
  EXPECT_THAT(CheckConfig(open + " allow_admin_beyond_loopback: true }").faults,
              FaultAt(4, "beyond loopback"));
  EXPECT_THAT(CheckConfig(open + files + "require_client_certificate: true }").faults, IsEmpty());
  EXPECT_THAT(CheckConfig(open + " allow_insecure_beyond_loopback: true }").faults, IsEmpty());
}

TEST(Config, ANameThatBeginsWith127IsNoLoopback) {
  const std::string listen = std::string(kGood) + "listen { address: \"";
  EXPECT_THAT(CheckConfig(listen + "127.example.com:7430\" }").faults,
              FaultAt(4, "beyond loopback"));
  EXPECT_THAT(CheckConfig(listen + "localhost.example.com:7430\" }").faults,
              FaultAt(4, "beyond loopback"));
  for (const char* address : {"127.9.9.9:1", "localhost:1", "[::1]:1", "unix:/x"}) {
    EXPECT_THAT(CheckConfig(listen + address + "\" }").faults, IsEmpty()) << address;
  }
}

TEST(Config, TheAdminPortNeedsAConsentOfItsOwn) {
  const std::string open = std::string(kGood) + "listen { admin_address: \"0.0.0.0:7431\"";
  EXPECT_THAT(CheckConfig(open + " }").faults, FaultAt(4, "allow_admin_beyond_loopback"));
  EXPECT_THAT(CheckConfig(open + " allow_insecure_beyond_loopback: true }").faults,
              FaultAt(4, "allow_admin_beyond_loopback"));
  EXPECT_THAT(CheckConfig(open + " allow_admin_beyond_loopback: true }").faults, IsEmpty());
}

TEST(Config, WhatThisVersionDoesNotHonourIsAFaultAndNotIgnored) {
  EXPECT_THAT(CheckConfig(std::string(kGood) + "access { }").faults, FaultAt(4, "access"));
  EXPECT_THAT(CheckConfig("store { sqlite { path: \"a\" } }\ndruid { router_urls: \"http://r:1\"\n"
                          "max_connections: 3 }")
                  .faults,
              FaultAt(3, "druid.max_connections: is not built"));
}

TEST(Config, PostgresqlWantsAFileAndADruidThatAllServersSee) {
  const std::string druid = "\ndruid { router_urls: \"http://localhost:8888\" }";
  EXPECT_THAT(CheckConfig("store { postgresql { dsn_file: \"dsn\" } }" + druid).faults, IsEmpty());
  EXPECT_THAT(
      CheckConfig("store { postgresql { dsn_file: \"dsn\" start_timeout { seconds: -1 } } }" +
                  druid)
          .faults,
      IsEmpty());
  EXPECT_THAT(CheckConfig("store { postgresql { } }" + druid).faults,
              FaultAt(1, "store.postgresql.dsn_file"));
  EXPECT_THAT(CheckConfig("store { postgresql { dsn_file: \"dsn\" pool_size: 2 } }" + druid).faults,
              FaultAt(1, "store.postgresql.pool_size"));
  EXPECT_THAT(
      CheckConfig("store { postgresql { dsn_file: \"dsn\" } }\ndruid { simulated: true }").faults,
      FaultAt(2, "druid"));
}

TEST(Config, ALeaseThatEndsBeforeItsCallIsAFault) {
  EXPECT_THAT(CheckConfig(std::string(kGood) + "backfills { lease_ttl { seconds: 30 } }").faults,
              FaultAt(4, "backfills.lease_ttl"));
}

TEST(Config, NumbersBelowZeroAreFaultsWhereverTheyStand) {
  const std::string good = kGood;
  EXPECT_THAT(CheckConfig(good + "backfills { max_parallel: -1 }").faults,
              FaultAt(4, "backfills.max_parallel: is below 0"));
  EXPECT_THAT(CheckConfig(good + "drops { max_segments_per_kill: -1 }").faults,
              FaultAt(4, "drops.max_segments_per_kill: is below 0"));
  EXPECT_THAT(CheckConfig(good + "drops { datasource_floors { datasource_pattern: \"a\" floor { "
                                 "seconds: -1 } } }")
                  .faults,
              FaultAt(4, "the floor of 'a' is below 0"));
}

TEST(Config, DeadlinesAndPausesOfZeroAreFaults) {
  const std::string sqlite =
      "store { sqlite { path: \"a\" } }\ndruid { router_urls: \"http://r\"\n";
  EXPECT_THAT(CheckConfig(sqlite + "call_timeout { } }").faults, FaultAt(3, "is 0"));
  EXPECT_THAT(CheckConfig(sqlite + "connect_timeout { seconds: 0 } }").faults, FaultAt(3, "is 0"));
  EXPECT_THAT(CheckConfig(std::string(kGood) + "backfills { poll_interval { } }").faults,
              FaultAt(4, "is 0"));
}

TEST(Config, RoutersAndServicesTogetherAreAFault) {
  EXPECT_THAT(
      CheckConfig("store { sqlite { path: \"a\" } }\ndruid {\n  router_urls: \"http://r:1\"\n"
                  "  coordinator_urls: \"http://c:1\"\n  broker_urls: \"http://b:1\"\n}\n")
          .faults,
      FaultAt(3, "remove one or the other"));
}

TEST(Config, WhatTheParserSaysOfValuesIsSaidForPeople) {
  EXPECT_THAT(CheckConfig("druid {\n  access: OBSERV\n}\n").faults,
              FaultAt(2, "access: 'OBSERV' is none of OBSERVE, MANAGE"));
  EXPECT_THAT(CheckConfig("druid {\n  router_urls: http://r:1\n}\n").faults,
              FaultAt(2, "stands in quotes"));
  EXPECT_THAT(CheckConfig("druid {\n  access: OBSERVE\n").faults, FaultAt(3, "file ends"));
}

TEST(Config, DurationsBelowZeroAreFaults) {
  EXPECT_THAT(CheckConfig(std::string(kGood) + "drops { floor { seconds: -1 } }").faults,
              FaultAt(4, "drops.floor"));
}

TEST(Config, DevRunsOnLoopbackWithTheSimulator) {
  const auto config = DevConfig("dir");
  EXPECT_EQ(config.store().sqlite().path(), "dir/interlock.db");
  EXPECT_TRUE(config.druid().simulated());
}

}  // namespace
}  // namespace interlock::server
