// Keeps the leases of a client's open files alive.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "client/namenode_connection.h"
#include "common/socket.h"

namespace ebb::client {

// Thread-safe. A thread renews the lease of each holder that has a file open: one call covers all
// files of a holder. The thread starts with the first file, so that a client that only reads has
// none.
class LeaseRenewer {
 public:
  // A lease may be taken over after a minute without a renewal.
  explicit LeaseRenewer(NamenodeConnection& namenode,
                        Timeout interval = std::chrono::seconds(20));
  ~LeaseRenewer();

  void OnOpen() { OnOpen(client_name_); }
  void OnClose() { OnClose(client_name_); }
  // The same for a file whose lease has another holder, such as all writers of a file together.
  void OnOpen(const std::string& holder);
  void OnClose(const std::string& holder);

  // The holder of the leases of this client's own files: names this client to the namenode.
  [[nodiscard]] const std::string& client_name() const { return client_name_; }

 private:
  void Run();
  void Renew(const std::string& holder);

  NamenodeConnection& namenode_;
  const Timeout interval_;
  const std::string client_name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  // How many files each holder has open. No holder without a file is here.
  std::map<std::string, int> open_;
  std::thread thread_;
};

}  // namespace ebb::client
