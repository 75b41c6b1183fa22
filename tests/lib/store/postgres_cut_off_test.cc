// A database that goes away: between two bodies, inside one, inside a COMMIT, for good.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/time/reason.h"
#include "tests/lib/store/postgres_fixture.h"

namespace interlock::store {
namespace {

TEST_F(PostgresStoreTest, ConnectionsThatAreCutAreMadeAnewAndNothingIsLostOrDoubled) {
  auto store = Open();
  ASSERT_TRUE(Put(*store, "a", 0).ok());
  int acknowledged = 0;
  for (int i = 0; i < 6; ++i) {
    database_.CutConnections();
    EXPECT_GE(Get(*store, "a"), acknowledged);
    const absl::Status status = Put(*store, "a");
    EXPECT_TRUE(status.ok()) << status;
    acknowledged += status.ok() ? 1 : 0;
  }
  EXPECT_EQ(Get(*store, "a"), acknowledged);
}

TEST_F(PostgresStoreTest, AConnectionThatIsCutInsideABodyRunsItAgain) {
  auto store = Open();
  int runs = 0;
  EXPECT_TRUE(store
                  ->Write([&](Transaction& tx) {
                    absl::Status status = Add(tx, "a", 1);
                    if (++runs == 1) database_.CutConnections();
                    return status.ok() ? Add(tx, "b", 1) : status;
                  })
                  .ok());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(Get(*store, "a"), 1);
  EXPECT_EQ(Get(*store, "b"), 1);
}

// A trigger ends the connection's own backend inside COMMIT, before it is done: the next
// connection reads that it was not, so it is decided again, and again cut off.
TEST_F(PostgresStoreTest, ACommitThatWasCutOffIsFoundOutAndNotTakenForDone) {
  auto store = Open();
  ASSERT_TRUE(Put(*store, "a", 0).ok());
  database_.Ask(
      "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " IF NEW.name = 'dies' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"
      " RETURN NULL; END $$;"
      "CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON thing DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION die()");
  const absl::Status status = Put(*store, "dies");
  EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE") << status;
  EXPECT_EQ(Get(*store, "dies"), -1);
  EXPECT_TRUE(Put(*store, "a").ok());
  EXPECT_EQ(Get(*store, "a"), 1);
}

TEST_F(PostgresStoreTest, ADatabaseThatIsGoneIsUnavailableAndTakenUpAgain) {
  auto store = Open();
  ASSERT_TRUE(Put(*store, "a").ok());
  AskServer(absl::StrCat("ALTER DATABASE ", database_.name(), " ALLOW_CONNECTIONS false"));
  database_.CutConnections();
  const absl::Status status = Put(*store, "a");
  EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE") << status;
  EXPECT_FALSE(store->Health().ok());
  EXPECT_EQ(ReasonOf(store->Read([](Transaction&) { return absl::OkStatus(); })),
            "STORE_UNAVAILABLE");
  AskServer(absl::StrCat("ALTER DATABASE ", database_.name(), " ALLOW_CONNECTIONS true"));
  EXPECT_TRUE(Put(*store, "a").ok());
  EXPECT_EQ(Get(*store, "a"), 2);
}

}  // namespace
}  // namespace interlock::store
