// The log of a mount: lines with a time, to stderr or to a file.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "common/error.h"

namespace ebb::mount {

// Thread-safe. More than kMostLines lines in a second are counted and not written, so that a broken
// cluster under a busy program does not fill the disk.
class Log {
 public:
  static constexpr int kMostLines = 20;

  // `name` begins each line behind the time. Lines go to stderr until ToFile().
  explicit Log(std::string name) : name_(std::move(name)) {}
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Appends to the file, which is made if it is missing. kIo if that cannot be done.
  [[nodiscard]] Status ToFile(const std::string& path);
  void Write(const std::string& text);

 private:
  void Put(const std::string& text);

  const std::string name_;
  std::mutex mutex_;
  int fd_ = 2;
  std::chrono::steady_clock::time_point second_ = {};
  int lines_ = 0;
};

}  // namespace ebb::mount
