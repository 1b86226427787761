#include "server/active_namenode.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ebb::server {

namespace {

// Registrations of all servers come at once, after a change of the active namenode.
constexpr int kRegistrationFactor = 5;

NamenodePatience PatienceWith(std::size_t namenodes, Timeout patience) {
  if (namenodes == 1) return {};
  return {.connect = patience, .answer = patience, .registration = kRegistrationFactor * patience};
}

}  // namespace

ActiveNamenode::ActiveNamenode(std::vector<RpcAddress> addresses, Timeout patience,
                               std::function<void()> on_lost)
    : addresses_(std::move(addresses)),
      patience_(PatienceWith(addresses_.size(), patience)),
      on_lost_(std::move(on_lost)),
      followed_(MakeClient(addresses_.front())) {}

ActiveNamenode::Client ActiveNamenode::MakeClient(const RpcAddress& address) const {
  return std::make_shared<NamenodeClient>(address, patience_,
                                          several() ? on_lost_ : std::function<void()>());
}

ActiveNamenode::Client ActiveNamenode::followed() const {
  const std::lock_guard lock(mutex_);
  return followed_;
}

std::vector<ActiveNamenode::Client> ActiveNamenode::Others() const {
  auto order = addresses_;
  const auto at = std::ranges::find(order, followed()->address());
  std::ranges::rotate(order, at);
  std::vector<Client> others;
  for (std::size_t i = 1; i < order.size(); ++i) others.push_back(MakeClient(order[i]));
  return others;
}

void ActiveNamenode::Follow(Client client) {
  const std::lock_guard obeying(obeying_);
  Client before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(followed_, std::move(client));
  }
  before->Close();
}

void ActiveNamenode::Close() { followed()->Close(); }

}  // namespace ebb::server
