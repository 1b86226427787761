// Keeps the leases of a client's open files alive.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "client/namenode_connection.h"

namespace ebb::client {

// Thread-safe. A thread renews the lease while a file is open: one call covers all files of the
// client. The thread starts with the first file, so that a client that only reads has none.
class LeaseRenewer {
 public:
  explicit LeaseRenewer(NamenodeConnection& namenode);
  ~LeaseRenewer();

  void OnOpen();
  void OnClose();

  // The holder of the leases: names this client to the namenode.
  [[nodiscard]] const std::string& client_name() const { return client_name_; }

 private:
  void Run();

  NamenodeConnection& namenode_;
  const std::string client_name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  int open_ = 0;
  std::thread thread_;
};

}  // namespace ebb::client
