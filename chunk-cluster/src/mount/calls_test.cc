// Calls and their deadlines, and the order of tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "mount/active_calls.h"
#include "mount/worker_pool.h"

namespace ebb::mount {
namespace {

class TestCall : public ActiveCall {
 public:
  TestCall(ActiveCalls& calls, std::promise<void>& late) : ActiveCall(calls), late_(late) {}

 private:
  void AnswerLate() override { late_.set_value(); }
  std::promise<void>& late_;
};

TEST(ActiveCallsTest, ACallWithoutAnAnswerGetsOneAtTheDeadline) {
  ActiveCalls calls(Timeout(20));
  std::promise<void> late;
  std::promise<void> told;
  const auto call = std::make_shared<TestCall>(calls, late);
  call->OnExpiry([&] { told.set_value(); });
  calls.Add(*call);
  late.get_future().wait();
  told.get_future().wait();
  EXPECT_TRUE(call->answered());
  EXPECT_FALSE(call->Claim()) << "there is one answer only";
  bool at_once = false;
  call->OnExpiry([&] { at_once = true; });
  EXPECT_TRUE(at_once);
}

TEST(ActiveCallsTest, AnsweredCallsAndCallsThatAreGoneAreLeftAlone) {
  ActiveCalls calls(Timeout(30));
  std::promise<void> never;
  std::promise<void> late;
  const auto answered = std::make_shared<TestCall>(calls, never);
  calls.Add(*answered);
  EXPECT_TRUE(answered->Claim());
  {
    const auto gone = std::make_shared<TestCall>(calls, never);
    calls.Add(*gone);
  }
  const auto last = std::make_shared<TestCall>(calls, late);
  calls.Add(*last);
  late.get_future().wait();
  EXPECT_EQ(never.get_future().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
}

TEST(ActiveCallsTest, TheClockMayHoldTheLastReference) {
  ActiveCalls calls(Timeout(5));
  std::promise<void> late;
  std::promise<void> release;
  auto released = release.get_future();
  auto call = std::make_shared<TestCall>(calls, late);
  call->OnExpiry([&] { released.wait(); });
  calls.Add(*call);
  late.get_future().wait();
  call = nullptr;
  release.set_value();
  // The clock goes on.
  std::promise<void> next_late;
  const auto next = std::make_shared<TestCall>(calls, next_late);
  calls.Add(*next);
  next_late.get_future().wait();
}

TEST(WorkerPoolTest, TasksOfAStrandRunInOrderAndOneAtATime) {
  constexpr int kTasks = 2000;
  std::vector<int> done;
  std::atomic<int> others = 0;
  {
    WorkerPool pool(4);
    const auto strand = std::make_shared<Strand>();
    for (int i = 0; i < kTasks; ++i) {
      // Without a lock: the sanitizer or the order would show two at a time.
      pool.Post(strand, [&done, i] { done.push_back(i); });
      pool.Post([&others] { ++others; });
    }
    ASSERT_TRUE(pool.AwaitIdle(std::chrono::seconds(60)));
  }
  ASSERT_EQ(done.size(), kTasks);
  for (int i = 0; i < kTasks; ++i) EXPECT_EQ(done[i], i);
  EXPECT_EQ(others, kTasks);
}

TEST(WorkerPoolTest, AStrandThatWaitsStopsNoOther) {
  WorkerPool pool(2);
  const auto slow = std::make_shared<Strand>();
  std::promise<void> go;
  std::promise<void> quick;
  auto may_go = go.get_future();
  pool.Post(slow, [&] { may_go.wait(); });
  pool.Post(slow, [] {});
  pool.Post(std::make_shared<Strand>(), [&] { quick.set_value(); });
  quick.get_future().wait();
  EXPECT_FALSE(pool.AwaitIdle(Timeout(0)));
  go.set_value();
  EXPECT_TRUE(pool.AwaitIdle(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace ebb::mount
