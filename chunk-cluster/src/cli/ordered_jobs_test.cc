#include "cli/ordered_jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace ebb::cli {
namespace {

TEST(OrderedJobsTest, ErrorsAreToldInTheOrderOfTheJobs) {
  for (const std::size_t threads : {1, 8}) {
    std::vector<std::string> told;
    std::vector<std::string> expected;
    {
      OrderedJobs jobs(threads, [&](const Error& error) { told.push_back(error.message); });
      for (int i = 0; i < 40; ++i) {
        const std::string name = std::to_string(i);
        // Later jobs end earlier.
        const auto work = [i, name]() -> Status {
          std::this_thread::sleep_for(std::chrono::milliseconds(7 - i % 8));
          if (i % 3 == 0) return {};
          return Fail(ErrorCode::kIo, name);
        };
        if (i % 3 != 0) expected.push_back(name);
        if (i % 7 == 0) {
          EXPECT_EQ(jobs.RunNow(work), i % 3 == 0);
        } else {
          jobs.Run(work);
        }
      }
    }
    EXPECT_EQ(told, expected) << threads;
  }
}

TEST(OrderedJobsTest, WhatAJobThrowsIsItsError) {
  std::vector<ErrorCode> told;
  {
    OrderedJobs jobs(2, [&](const Error& error) { told.push_back(error.code); });
    jobs.Run([]() -> Status { throw std::bad_alloc(); });
    EXPECT_FALSE(jobs.RunNow([]() -> Status { throw std::bad_alloc(); }));
  }
  EXPECT_EQ(told, (std::vector{ErrorCode::kBusy, ErrorCode::kBusy}));
}

// The outcomes of later jobs wait in bounded memory.
TEST(OrderedJobsTest, ASlowJobHoldsBackTheOthersInTheEnd) {
  std::atomic<int> ran = 0;
  {
    OrderedJobs jobs(2, [](const Error&) {});
    jobs.Run([&]() -> Status {
      while (ran < 5000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_LT(ran, 10'000);
      return {};
    });
    for (int i = 0; i < 12'000; ++i) {
      jobs.Run([&]() -> Status {
        ++ran;
        return {};
      });
    }
  }
  EXPECT_EQ(ran, 12'000);
}

}  // namespace
}  // namespace ebb::cli
