#include "client/lease_renewer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <random>

#include "ClientNamenodeProtocol.pb.h"

namespace ebb::client {

LeaseRenewer::LeaseRenewer(NamenodeConnection& namenode, Timeout interval)
    : namenode_(namenode),
      interval_(interval),
      client_name_(fmt::format("DFSClient_EBB_{:08x}_{}", std::random_device()(), getpid())) {}

LeaseRenewer::~LeaseRenewer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    namenode_.Close();
    thread_.join();
  }
}

void LeaseRenewer::OnOpen(const std::string& holder) {
  const std::lock_guard lock(mutex_);
  ++open_[holder];
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void LeaseRenewer::OnClose(const std::string& holder) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(holder);
  if (at != open_.end() && --at->second == 0) open_.erase(at);
}

void LeaseRenewer::Run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval_, [&] { return stopping_; })) {
    const auto holders = open_;
    lock.unlock();
    for (const auto& [holder, files] : holders) Renew(holder);
    lock.lock();
  }
}

void LeaseRenewer::Renew(const std::string& holder) {
  hadoop::hdfs::RenewLeaseRequestProto request;
  request.set_clientname(holder);
  hadoop::hdfs::RenewLeaseResponseProto response;
  // The next round tries again. If the lease is lost, the next call of a writer tells so.
  (void)namenode_.Call("renewLease", request, response);
}

}  // namespace ebb::client
