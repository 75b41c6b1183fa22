#include "tests/lib/store/contract/store_contract.h"

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "lib/time/mutex.h"
#include "lib/time/reason.h"

namespace interlock::store {

struct HeldWriter::Gate {
  Mutex mutex;
  CondVar changed;
  bool entered = false;
  bool released = false;
  bool done = false;
};

HeldWriter::HeldWriter(Store& store) : gate_(std::make_shared<Gate>()) {
  store.WriteAsync(
      [gate = gate_](Transaction&) {
        MutexLock lock(gate->mutex);
        gate->entered = true;
        gate->changed.NotifyAll();
        while (!gate->released) gate->changed.Wait(lock);
        return absl::OkStatus();
      },
      [gate = gate_](const absl::Status&) {
        MutexLock lock(gate->mutex);
        gate->done = true;
        gate->changed.NotifyAll();
      });
  MutexLock lock(gate_->mutex);
  while (!gate_->entered) gate_->changed.Wait(lock);
}

void HeldWriter::Release() {
  MutexLock lock(gate_->mutex);
  gate_->released = true;
  gate_->changed.NotifyAll();
  while (!gate_->done) gate_->changed.Wait(lock);
}

Schema StoreContract::Things() {
  return {"things",
          {{"CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY, number BIGINT, note TEXT)"}},
          {}};
}

void StoreContract::SetUp() {
  database_ = GetParam().make();
  Reopen();
}

void StoreContract::Reopen() {
  store_.reset();
  auto store = database_->Open({Things()}, clock_);
  ASSERT_TRUE(store.ok()) << store.status();
  store_ = std::move(*store);
}

absl::Status PutIn(Transaction& tx, const std::string& name, const Value& number) {
  return tx.Execute("INSERT INTO thing (name, number) VALUES (:name, :number)", {name, number})
      .status();
}

absl::Status StoreContract::Put(const std::string& name, int64_t number) {
  return store_->Write([&](Transaction& tx) { return PutIn(tx, name, number); });
}

int64_t StoreContract::Get(const std::string& name) {
  int64_t number = -1;
  absl::Status status = store_->Read([&](Transaction& tx) {
    auto rows = tx.Query("SELECT number FROM thing WHERE name = :name", {name});
    if (rows.ok() && !rows->empty()) number = rows->front().Int(0);
    return rows.status();
  });
  EXPECT_TRUE(status.ok()) << status;
  return number;
}

int64_t StoreContract::Count() {
  int64_t count = -1;
  EXPECT_TRUE(store_
                  ->Read([&](Transaction& tx) {
                    auto rows = tx.Query("SELECT COUNT(*) FROM thing", {});
                    if (rows.ok()) count = rows->front().Int(0);
                    return rows.status();
                  })
                  .ok());
  return count;
}

TEST_P(StoreContract, KeepsWhatWasWrittenAcrossAReopen) {
  ASSERT_TRUE(Put("a", 1).ok());
  EXPECT_EQ(Get("a"), 1);
  Reopen();
  EXPECT_EQ(Get("a"), 1);
}

TEST_P(StoreContract, UndoesARefusedBodyAndReturnsItsError) {
  const absl::Status status = store_->Write([](Transaction& tx) {
    EXPECT_TRUE(PutIn(tx, "a", 1).ok());
    return absl::FailedPreconditionError("changed my mind");
  });
  EXPECT_EQ(status, absl::FailedPreconditionError("changed my mind"));
  EXPECT_EQ(Count(), 0);
}

TEST_P(StoreContract, ARefusedBodyLeavesItsNeighboursInTheBatchAlone) {
  std::atomic<int> answered{0};
  {
    HeldWriter held(*store_);
    for (int i = 0; i < 10; ++i) {
      store_->WriteAsync(
          [i](Transaction& tx) {
            absl::Status status = PutIn(tx, absl::StrCat("n", i), i);
            return i % 2 == 0 ? status : absl::AbortedError("odd");
          },
          [&, i](const absl::Status& status) {
            EXPECT_EQ(status.ok(), i % 2 == 0) << i << status;
            ++answered;
          });
    }
  }
  ASSERT_TRUE(Put("after", 0).ok());
  EXPECT_EQ(answered, 10);
  EXPECT_EQ(Count(), 6);
  EXPECT_EQ(Get("n4"), 4);
  EXPECT_EQ(Get("n5"), -1);
}

TEST_P(StoreContract, ABodyThatPassesOverAFailedStatementIsUndoneAllTheSame) {
  ASSERT_TRUE(Put("a", 1).ok());
  const absl::Status status = store_->Write([](Transaction& tx) {
    EXPECT_TRUE(PutIn(tx, "b", 2).ok());
    PutIn(tx, "a", 3).IgnoreError();  // there is an "a"
    EXPECT_FALSE(PutIn(tx, "c", 4).ok());
    return absl::OkStatus();
  });
  EXPECT_EQ(ReasonOf(status), "STORE_CONSTRAINT") << status;
  EXPECT_EQ(Count(), 1);
  EXPECT_EQ(Get("a"), 1);
}

// The same statement, prepared once: what a failed run of it was given is not in the next.
TEST_P(StoreContract, NothingIsKeptOfWhatAFailedStatementWasGiven) {
  const auto insert = [&](const std::string& name, const Value& note) {
    return store_->Write([&](Transaction& tx) {
      return tx.Execute("INSERT INTO thing (name, note) VALUES (:name, :note)", {name, note})
          .status();
    });
  };
  ASSERT_TRUE(insert("a", Value("first")).ok());
  ASSERT_EQ(ReasonOf(insert("a", Value("of the one that failed"))), "STORE_CONSTRAINT");
  ASSERT_TRUE(insert("b", Value()).ok());
  bool is_null = false;
  ASSERT_TRUE(store_
                  ->Read([&](Transaction& tx) {
                    auto rows = tx.Query("SELECT note FROM thing WHERE name = 'b'", {});
                    if (rows.ok()) is_null = rows->front().IsNull(0);
                    return rows.status();
                  })
                  .ok());
  EXPECT_TRUE(is_null);
}

TEST_P(StoreContract, AnExceptionInABodyIsAnErrorNotACrash) {
  const absl::Status status = store_->Write([](Transaction& tx) -> absl::Status {
    EXPECT_TRUE(PutIn(tx, "a", 1).ok());
    throw std::runtime_error("boom");
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Count(), 0);
  EXPECT_TRUE(Put("b", 2).ok());
}

TEST_P(StoreContract, GivesBackEveryKindOfValueAsItWas) {
  const std::vector<Value> values = {Value(int64_t{0}),
                                     Value(std::numeric_limits<int64_t>::max()),
                                     Value(std::numeric_limits<int64_t>::min()),
                                     Value(),
                                     Value(true),
                                     Value(Instant::FromMillis(1784203200000))};
  const std::vector<std::string> notes = {"", "it's \"quoted\" :name ? $1 %", "две строки\nü€😀"};
  for (const Value& number : values) {
    for (const std::string& note : notes) {
      ASSERT_TRUE(store_
                      ->Write([&](Transaction& tx) {
                        auto rows = tx.Query(
                            "INSERT INTO thing (name, number, note) VALUES ('v', :n, :t)"
                            " RETURNING number, note",
                            {number, note});
                        if (!rows.ok()) return rows.status();
                        EXPECT_EQ(rows->front().IsNull(0), number.is_null());
                        EXPECT_EQ(rows->front().Int(0), number.Int());
                        EXPECT_EQ(rows->front().Text(1), note);
                        EXPECT_FALSE(rows->front().IsNull(1));
                        return tx.Execute("DELETE FROM thing", {}).status();
                      })
                      .ok());
    }
  }
}

TEST_P(StoreContract, TakesATextWhereItTookANumberAndNothingAtAll) {
  for (const Value& note : {Value("text"), Value(7), Value(), Value("text")}) {
    std::string seen = "?";
    ASSERT_TRUE(store_
                    ->Read([&](Transaction& tx) {
                      auto rows = tx.Query("SELECT CAST(:v AS TEXT)", {note});
                      if (rows.ok()) seen = rows->front().Text(0);
                      return rows.status();
                    })
                    .ok());
    EXPECT_EQ(seen, note.Text());
  }
}

TEST_P(StoreContract, BindsANameThatStandsTwiceTwice) {
  int64_t sum = 0;
  ASSERT_TRUE(
      store_
          ->Read([&](Transaction& tx) {
            auto rows = tx.Query("SELECT CAST(:a AS BIGINT) * 10 + CAST(:a AS BIGINT)", {1, 2});
            if (rows.ok()) sum = rows->front().Int(0);
            return rows.status();
          })
          .ok());
  EXPECT_EQ(sum, 12);
}

TEST_P(StoreContract, CountsTheRowsThatAStatementChanged) {
  ASSERT_TRUE(Put("a", 1).ok());
  ASSERT_TRUE(Put("b", 1).ok());
  ASSERT_TRUE(store_
                  ->Write([](Transaction& tx) {
                    EXPECT_EQ(*tx.Execute("UPDATE thing SET number = 2 WHERE number = :n", {1}), 2);
                    EXPECT_EQ(*tx.Execute("UPDATE thing SET number = 2 WHERE number = :n", {1}), 0);
                    return absl::OkStatus();
                  })
                  .ok());
}

TEST_P(StoreContract, RefusesAStatementThatItDoesNotUnderstand) {
  const absl::Status no_table =
      store_->Write([](Transaction& tx) { return tx.Execute("DELETE FROM nothing", {}).status(); });
  EXPECT_EQ(ReasonOf(no_table), "STORE_STATEMENT") << no_table;
  const absl::Status too_few = store_->Write([](Transaction& tx) {
    return tx.Execute("DELETE FROM thing WHERE name = :name", {}).status();
  });
  EXPECT_EQ(ReasonOf(too_few), "STORE_STATEMENT") << too_few;
  EXPECT_TRUE(store_->Health().ok());
}

TEST_P(StoreContract, AReadChangesNothing) {
  const absl::Status execute =
      store_->Read([](Transaction& tx) { return tx.Execute("DELETE FROM thing", {}).status(); });
  EXPECT_EQ(ReasonOf(execute), "READ_ONLY_TRANSACTION") << execute;
  const absl::Status query = store_->Read([](Transaction& tx) {
    return tx.Query("INSERT INTO thing (name) VALUES ('x') RETURNING name", {}).status();
  });
  EXPECT_EQ(ReasonOf(query), "READ_ONLY_TRANSACTION") << query;
  EXPECT_EQ(Count(), 0);
  EXPECT_TRUE(store_->Health().ok());
}

TEST_P(StoreContract, AReadSeesOneSnapshotWhileWritesGoOn) {
  ASSERT_TRUE(Put("a", 1).ok());
  ASSERT_TRUE(store_
                  ->Read([&](Transaction& tx) {
                    std::thread writer([&] { EXPECT_TRUE(Put("b", 2).ok()); });
                    writer.join();
                    auto rows = tx.Query("SELECT COUNT(*) FROM thing", {});
                    EXPECT_EQ(rows->front().Int(0), 1);
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(Count(), 2);
}

TEST_P(StoreContract, MoreReadersThanConnectionsWaitForEachOther) {
  ASSERT_TRUE(Put("a", 1).ok());
  std::vector<std::thread> readers;
  for (int i = 0; i < 12; ++i) {
    readers.emplace_back([&] {
      for (int j = 0; j < 20; ++j) EXPECT_EQ(Get("a"), 1);
    });
  }
  for (std::thread& reader : readers) reader.join();
}

TEST_P(StoreContract, TimeStandsStillWithinATransaction) {
  Instant first, second, in_read;
  ASSERT_TRUE(store_
                  ->Write([&](Transaction& tx) {
                    first = tx.now();
                    clock_.Advance(absl::Seconds(5));
                    second = tx.now();
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(first, second);
  ASSERT_TRUE(store_
                  ->Read([&](Transaction& tx) {
                    in_read = tx.now();
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(in_read, first + absl::Seconds(5));
}

TEST_P(StoreContract, TimeIsReadAfterTheLockIsTaken) {
  Instant in_body;
  {
    HeldWriter held(*store_);
    store_->WriteAsync(
        [&](Transaction& tx) {
          in_body = tx.now();
          return absl::OkStatus();
        },
        [](const absl::Status&) {});
    clock_.Advance(absl::Minutes(1));
  }
  ASSERT_TRUE(Put("after", 0).ok());
  EXPECT_EQ(in_body, store_->Now());
}

TEST_P(StoreContract, ManyThreadsLoseNoUpdate) {
  ASSERT_TRUE(Put("counter", 0).ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        EXPECT_TRUE(store_
                        ->Write([](Transaction& tx) {
                          auto rows =
                              tx.Query("SELECT number FROM thing WHERE name = 'counter'", {});
                          if (!rows.ok()) return rows.status();
                          return tx
                              .Execute("UPDATE thing SET number = :n WHERE name = 'counter'",
                                       {rows->front().Int(0) + 1})
                              .status();
                        })
                        .ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get("counter"), 400);
}

TEST_P(StoreContract, AnswersAllThatWaitsBeforeItCloses) {
  std::atomic<int> committed{0};
  {
    HeldWriter held(*store_);
    for (int i = 0; i < 20; ++i) {
      store_->WriteAsync([i](Transaction& tx) { return PutIn(tx, absl::StrCat(i), i); },
                         [&](const absl::Status& status) { committed += status.ok() ? 1 : 0; });
    }
  }
  Reopen();
  EXPECT_EQ(committed, 20);
  EXPECT_EQ(Count(), 20);
}

// An old library holds a store open across its end of life, and the time of the next one
// must not lie before what the former decided.
TEST_P(StoreContract, TimeGoesOnAcrossAReopen) {
  ASSERT_TRUE(Put("a", 1).ok());
  const Instant before = store_->Now();
  store_.reset();
  clock_.Advance(absl::Milliseconds(1234));
  Reopen();
  EXPECT_EQ(store_->Now(), before + absl::Milliseconds(1234));
}

}  // namespace interlock::store
