#include "lib/work/replicas.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"
#include "lib/work/steps.h"
#include "tests/lib/store/databases/test_database.h"

namespace interlock::work {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

class ReplicasTest : public ::testing::Test {
 protected:
  ReplicasTest() : store_(store::OpenChosenStore({WorkSchema()}, clock_)) {}

  void Note(const std::string& name, const std::string& version = "1.0") {
    const absl::Status noted =
        store_->Write([&](store::Transaction& tx) { return NoteReplica(tx, name, version); });
    EXPECT_TRUE(noted.ok()) << noted;
  }
  std::vector<Replica> List() {
    std::vector<Replica> replicas;
    const absl::Status listed = store_->Read([&](store::Transaction& tx) {
      auto all = ListReplicas(tx);
      if (all.ok()) replicas = *all;
      return all.status();
    });
    EXPECT_TRUE(listed.ok()) << listed;
    return replicas;
  }

  FakeClock clock_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(ReplicasTest, EachStandsOnceWithItsNewestWord) {
  Note("b/1");
  Note("a/1");
  clock_.Advance(absl::Seconds(10));
  Note("b/1", "1.1");
  const std::vector<Replica> replicas = List();
  ASSERT_THAT(replicas, ElementsAre(Field(&Replica::name, "a/1"), Field(&Replica::name, "b/1")));
  EXPECT_EQ(replicas[1].version, "1.1");
  EXPECT_EQ(replicas[1].seen - replicas[0].seen, absl::Seconds(10));
}

TEST_F(ReplicasTest, OneThatIsSilentForLongIsForgotten) {
  Note("a/1");
  clock_.Advance(kReplicaForgotten + absl::Seconds(1));
  Note("b/1");
  EXPECT_THAT(List(), ElementsAre(Field(&Replica::name, "b/1")));
}

}  // namespace
}  // namespace interlock::work
