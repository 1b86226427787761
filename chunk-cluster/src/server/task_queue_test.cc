#include "server/task_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <latch>
#include <system_error>
#include <thread>

#include "common/thread_shortage.h"

namespace ebb::server {
namespace {

TEST(TaskQueueTest, ATaskThatGetsNoThreadEndsNeitherTheQueueNorTheProcess) {
  TaskQueue queue(1, 10);
  std::promise<void> ran;
  queue.Add("first", [] {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  });
  queue.Add("second", [&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

// A task that waits for another one to wake the queue might wait for ever.
TEST(TaskQueueTest, AQueueWithoutAThreadTakesNoTaskUntilThereIsOne) {
  bool dropped = true;
  std::promise<void> ran;
  TaskQueue queue(2, 10);
  {
    const ThreadShortage shortage;
    const auto room = queue.CheckRoom();
    ASSERT_FALSE(room.has_value());
    EXPECT_EQ(room.error().code, ErrorCode::kBusy);
    queue.Add("early", [&] { dropped = false; });
  }
  EXPECT_TRUE(queue.CheckRoom().has_value());
  {
    // The thread that there is serves all.
    const ThreadShortage shortage;
    for (int i = 0; i < 3; ++i) queue.Add("more", [] {});
    queue.Add("last", [&] { ran.set_value(); });
  }
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(dropped);
}

TEST(TaskQueueTest, ThreadsWithoutTasksEnd) {
  std::promise<void> ran;
  TaskQueue queue(3, 10, std::chrono::milliseconds(1));
  for (int round = 0; round < 3; ++round) {
    std::latch met(4);
    for (int i = 0; i < 3; ++i) queue.Add("meeting", [&] { met.arrive_and_wait(); });
    met.arrive_and_wait();
    while (queue.threads() > 0) std::this_thread::yield();
  }
  // The thread of a task that was promised room stays.
  ASSERT_TRUE(queue.CheckRoom().has_value());
  const ThreadShortage shortage;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  queue.Add("promised", [&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(TaskQueueTest, AFullQueueSaysSo) {
  std::promise<void> started;
  std::promise<void> end;
  TaskQueue queue(1, 1);
  queue.Add("runs", [&] {
    started.set_value();
    end.get_future().wait();
  });
  started.get_future().wait();
  EXPECT_TRUE(queue.CheckRoom().has_value());
  queue.Add("waits", [] {});
  EXPECT_FALSE(queue.CheckRoom().has_value());
  end.set_value();
}

TEST(TaskQueueTest, AsManyTasksRunAtTheSameTimeAsThereAreThreads) {
  TaskQueue queue(3, 10);
  std::latch met(4);
  for (int i = 0; i < 3; ++i) queue.Add("meeting", [&] { met.arrive_and_wait(); });
  met.arrive_and_wait();
}

}  // namespace
}  // namespace ebb::server
