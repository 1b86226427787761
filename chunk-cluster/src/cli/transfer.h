// What the commands share that copy trees from and to this machine.
#pragma once

#include <utility>
#include <vector>

#include "cli/jobs.h"
#include "cli/shell.h"

namespace ebb::cli {

// The threads that copy files (option -t), and the files that may wait for a thread (-q).
struct TransferSize {
  std::size_t threads = 1;
  std::size_t waiting = 1024;
};

[[nodiscard]] Result<TransferSize> TransferSizeOf(const Words& words);

// Files that are copied side by side, and the work that follows when all files are there. One thread
// may call.
class Transfer {
 public:
  explicit Transfer(const TransferSize& size) : jobs_(size.threads, size.waiting) {}

  void Run(Job job) { jobs_.Run(std::move(job)); }
  // In the order of the calls. Example: a directory gets its times back, which each new file changes.
  void RunAtEnd(Job job) { last_.push_back(std::move(job)); }
  void Finish();

 private:
  Jobs jobs_;
  std::vector<Job> last_;
};

}  // namespace ebb::cli
