// Which database this is, and what of it is told: a copy, a promoted standby, one that nobody
// confirms, an address with a password.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/store/facts.h"
#include "lib/time/reason.h"
#include "tests/lib/store/postgres_fixture.h"

namespace interlock::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(PostgresStoreTest, ACopyOfADatabaseIsAnotherIncarnationWithHigherTokens) {
  Schema things = Things();
  things.on_restore = {
      "INSERT INTO thing (name, number) SELECT 'floor', number FROM store_facts"
      " WHERE name = 'token_floor'"};
  auto store = Open(database_.Options({things}, clock_));
  const std::string incarnation = store->incarnation();
  ASSERT_TRUE(Put(*store, "a", 7).ok());
  store.reset();
  const std::string copy = absl::StrCat(database_.name(), "_copy");
  AskServer(absl::StrCat("CREATE DATABASE ", copy, " TEMPLATE ", database_.name()));
  PostgresOptions options = database_.Options({things}, clock_);
  options.connection_string = [&] { return absl::StrCat(database_.dsn(), " dbname=", copy); };
  for (int start = 0; start < 2; ++start) {
    auto restored = Open(options);
    EXPECT_NE(restored->incarnation(), incarnation);
    EXPECT_EQ(Get(*restored, "a"), 7);
    EXPECT_EQ(Get(*restored, "floor"), TokenFloorAt(clock_.Now()));
  }
  EXPECT_EQ(Open(database_.Options({things}, clock_))->incarnation(), incarnation);
  AskServer(absl::StrCat("DROP DATABASE ", copy, " WITH (FORCE)"));
}

TEST_F(PostgresStoreTest, APromotedServerOrARecoveryLiftsTokensOnce) {
  Schema things = Things();
  things.on_failover = {
      "INSERT INTO thing (name, number) SELECT 'floor', number FROM"
      " store_facts WHERE name = 'token_floor'"};
  auto store = Open(database_.Options({things}, clock_));
  ASSERT_TRUE(Put(*store, "a").ok());
  // As if what is there had been written before a promotion: the timeline is its last part.
  database_.Ask(
      "UPDATE store_facts SET text = regexp_replace(text, '[^/]*$', '0000000F')"
      " WHERE name = 'origin'");
  store.reset();
  store = Open(database_.Options({things}, clock_));
  EXPECT_EQ(Get(*store, "floor"), TokenFloorAt(clock_.Now()));
  auto other = Open(database_.Options({things}, clock_));
  EXPECT_EQ(Get(*other, "floor"), TokenFloorAt(clock_.Now()));
}

TEST_F(PostgresStoreTest, RefusesWritesUnlessAStandbyConfirmsWhereThatIsRequired) {
  PostgresOptions options = database_.Options({Things()}, clock_);
  options.require_synchronous = true;
  auto store = Open(options);
  const absl::Status status = Put(*store, "a");
  EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE");
  EXPECT_THAT(std::string(status.message()), HasSubstr("synchronous_standby_names"));
  EXPECT_FALSE(store->Health().ok());
  EXPECT_EQ(Get(*store, "a"), -1);
}

TEST_F(PostgresStoreTest, TellsWhatItSeesOfTheServer) {
  auto store = Open();
  while (store->Describe().notices.empty()) ASSERT_TRUE(Put(*store, "a").ok());
  const StoreDescription described = store->Describe();
  EXPECT_EQ(described.engine, "postgresql");
  EXPECT_EQ(described.synchronous, false);
  // The tests' server is not made to last.
  EXPECT_EQ(described.notices.front().reason, "FSYNC_OFF");
}

TEST(PostgresAddress, NoErrorShowsThePassword) {
  FakeClock clock;
  PostgresOptions options;
  const auto open = [&](const std::string& dsn) {
    options.connection_string = [dsn] { return dsn; };
    return OpenPostgres(options, clock).status();
  };
  const absl::Status unreadable = open("host=127.0.0.1 password=hunter2 user");
  EXPECT_EQ(ReasonOf(unreadable), "STORE_CONNECTION_STRING") << unreadable;
  EXPECT_THAT(unreadable.ToString(), Not(HasSubstr("hunter2")));
  options.password = [] { return std::string("hunter2"); };
  const absl::Status refused = open("host=127.0.0.1 port=1 user=nobody dbname=hunter2");
  EXPECT_EQ(ReasonOf(refused), "STORE_UNAVAILABLE") << refused;
  EXPECT_THAT(refused.ToString(), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace interlock::store
