// For tests: a process that has no thread left.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace ebb {

// While this exists, no thread starts in the process: each would have a stack that is larger than
// any memory. Threads that run go on. One at a time.
class ThreadShortage {
 public:
  ThreadShortage() {
    EXPECT_EQ(pthread_getattr_default_np(&usual_), 0);
    pthread_attr_t huge = usual_;
    EXPECT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
  }
  ~ThreadShortage() { EXPECT_EQ(pthread_setattr_default_np(&usual_), 0); }
  ThreadShortage(const ThreadShortage&) = delete;
  ThreadShortage& operator=(const ThreadShortage&) = delete;

 private:
  pthread_attr_t usual_;
};

}  // namespace ebb
