// A token that was handed out never comes again, whatever file is put in the place of the
// store's.
#include <filesystem>

#include "gmock/gmock.h"
#include "lib/store/mark_file.h"
#include "tests/lib/lease/lease_fixture.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::lease {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RestoredFile : public LeaseTest {
 protected:
  RestoredFile() { Open(); }

  void Open() {
    store::SqliteOptions options;
    options.path = File();
    options.schemas = {audit::AuditSchema(), LeaseSchema()};
    options.durable = false;
    notices_.clear();
    options.on_notice = [this](const store::StoreNotice& notice) { notices_.push_back(notice); };
    auto store = store::OpenSqlite(std::move(options), clock_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = std::move(*store);
  }
  std::string File() const { return folder_.File("store.db"); }
  std::string Copy() const { return folder_.File("copy.db"); }
  static void CopyOver(const std::string& from, const std::string& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  }

  // `cp store.db copy.db` while no server runs.
  void TakeCopy() {
    store_.reset();
    CopyOver(File(), Copy());
    Open();
  }
  void PutCopyBack() {
    store_.reset();
    CopyOver(Copy(), File());
    Open();
  }
  // As `kill -9` leaves it: nobody says that it was closed.
  void Crash() {
    CopyOver(File() + ".mark", folder_.File("mark"));
    store_.reset();
    CopyOver(folder_.File("mark"), File() + ".mark");
  }
  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons;
    for (const store::StoreNotice& notice : notices_) reasons.push_back(notice.reason);
    return reasons;
  }

  TemporaryFolder folder_;
  std::vector<store::StoreNotice> notices_;
};

TEST_F(RestoredFile, Case105TokensNeverComeAgainAfterACopyOfTheFileWasPutBack) {
  Granted("a", {Hour(1)});
  TakeCopy();
  const std::string incarnation = store_->incarnation();
  const Reservation lost = Granted("a", {Hour(2)});
  PutCopyBack();
  const Reservation next = Granted("b", {Hour(2)});
  EXPECT_GT(next.token, lost.token);
  EXPECT_EQ(ReasonOf(Check(lost, Hour(2))), "UNKNOWN_RESERVATION");
  EXPECT_NE(store_->incarnation(), incarnation);
  ASSERT_THAT(Reasons(), ElementsAre("STORE_RESTORED"));
  EXPECT_THAT(notices_[0].message, HasSubstr("older than what was acknowledged"));
  EXPECT_EQ(store_->Describe().notices.size(), 1);
}

// The clock did not move in between: the mark of time alone would not tell.
TEST_F(RestoredFile, Case105AlsoWhereThatTookNoTime) {
  TakeCopy();
  ReserveRequest clicks = Request("a", {Hour(1)});
  clicks.datasource = "clicks";
  const Reservation lost = Granted(clicks);
  Crash();
  CopyOver(Copy(), File());
  Open();
  EXPECT_GT(Granted(clicks).token, lost.token);
}

TEST_F(RestoredFile, Case105TheSameCopyCanBePutBackAgainAndAgain) {
  TakeCopy();
  int64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    const Reservation granted = Granted("a", {Hour(1)});
    EXPECT_GT(granted.token, last);
    last = granted.token;
    clock_.StepWall(-absl::Hours(24));
    PutCopyBack();
  }
}

TEST_F(RestoredFile, AFileThatCameWithoutItsMarkIsARestoredOne) {
  const Reservation known = Granted("a", {Hour(1)});
  store_.reset();
  fs::remove(File() + ".mark");
  Open();
  EXPECT_THAT(Reasons(), ElementsAre("STORE_RESTORED"));
  EXPECT_GT(Granted("b", {Hour(2)}).token, known.token);
  EXPECT_EQ(Get(known).state, State::kActive) << "what is in the file goes on";
}

TEST_F(RestoredFile, AnotherStoresFileInItsPlaceIsARestoredOne) {
  TakeCopy();
  store_.reset();
  for (const char* name : {"store.db", "store.db.mark"}) fs::remove(folder_.File(name));
  Open();
  EXPECT_THAT(Reasons(), IsEmpty()) << "a new store";
  PutCopyBack();
  EXPECT_THAT(Reasons(), ElementsAre("STORE_RESTORED"));
}

TEST_F(RestoredFile, AStoreThatWasOnlyClosedOrKilledIsNone) {
  const std::string incarnation = store_->incarnation();
  for (int64_t token = 1; token < 7; ++token) {
    EXPECT_EQ(Granted("a", {Hour(static_cast<int>(token))}).token, token);
    clock_.Advance(absl::Milliseconds(700));
    token % 2 == 0 ? store_.reset() : Crash();
    Open();
    EXPECT_THAT(Reasons(), IsEmpty());
    EXPECT_EQ(store_->incarnation(), incarnation);
  }
}

// What came after the last sync is not beside the file: nobody can tell what was lost.
TEST_F(RestoredFile, AfterPowerLossTokensJump) {
  const Reservation before = Granted("a", {Hour(1)});
  Crash();
  clock_.Reboot(absl::Minutes(1));
  Open();
  EXPECT_THAT(Reasons(), ElementsAre("STORE_CUT_OFF"));
  EXPECT_GT(Granted("b", {Hour(2)}).token, before.token + 1'000'000);
  EXPECT_EQ(Get(before).state, State::kActive);
  store_.reset();
  clock_.Reboot(absl::Minutes(1));
  Open();
  EXPECT_THAT(Reasons(), IsEmpty()) << "it was closed before the machine went down";
}

TEST(MarkFile, ThatIsCutShortIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder.File("mark");
  {
    const auto file = store::MarkFile::Open(path, {"abc", "boot", false, 7, Instant()}, false);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Note(8, std::nullopt).ok());
    EXPECT_FALSE((*store::MarkFile::Read(path))->closed);
  }
  const auto past = *store::MarkFile::Read(path);
  ASSERT_TRUE(past.has_value());
  EXPECT_EQ(past->incarnation, "abc");
  EXPECT_EQ(past->newest, 8);
  EXPECT_TRUE(past->closed);
  fs::resize_file(path, 20);
  EXPECT_FALSE(store::MarkFile::Read(path)->has_value());
  EXPECT_FALSE(store::MarkFile::Read(folder.File("none"))->has_value());
}

}  // namespace
}  // namespace interlock::lease
