#include "server/task_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <latch>
#include <system_error>

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

TEST(TaskQueueTest, AsManyTasksRunAtTheSameTimeAsThereAreThreads) {
  TaskQueue queue(3, 10);
  std::latch met(4);
  for (int i = 0; i < 3; ++i) queue.Add("meeting", [&] { met.arrive_and_wait(); });
  met.arrive_and_wait();
}

}  // namespace
}  // namespace ebb::server
