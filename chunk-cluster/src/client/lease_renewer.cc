#include "client/lease_renewer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "ClientNamenodeProtocol.pb.h"

namespace ebb::client {

namespace {

// A lease may be taken over after a minute without a renewal.
constexpr auto kInterval = std::chrono::seconds(20);

}  // namespace

LeaseRenewer::LeaseRenewer(NamenodeConnection& namenode)
    : namenode_(namenode),
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

void LeaseRenewer::OnOpen() {
  const std::lock_guard lock(mutex_);
  ++open_;
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void LeaseRenewer::OnClose() {
  const std::lock_guard lock(mutex_);
  --open_;
}

void LeaseRenewer::Run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [&] { return stopping_; })) {
    if (open_ == 0) continue;
    lock.unlock();
    hadoop::hdfs::RenewLeaseRequestProto request;
    request.set_clientname(client_name_);
    hadoop::hdfs::RenewLeaseResponseProto response;
    // The next round tries again. If the lease is lost, the next call of a writer tells so.
    (void)namenode_.Call("renewLease", request, response);
    lock.lock();
  }
}

}  // namespace ebb::client
