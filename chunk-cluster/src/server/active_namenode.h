// Which of the namenodes this server follows: the active one. At any time the server has a session
// with one namenode at most.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "rpc/address.h"
#include "server/namenode_client.h"

namespace ebb::server {

// Thread-safe. A client of a namenode stands for the session with that namenode. Following another
// namenode closes the client of the one before, so that no late answer of that namenode arrives.
class ActiveNamenode {
 public:
  using Client = std::shared_ptr<NamenodeClient>;

  // `addresses` has at least one. `patience` is how long each of several namenodes may take for a
  // heartbeat; one namenode alone has a minute, because there is no other to ask.
  // `on_lost` is called if one of several namenodes ends a connection; it must not block.
  ActiveNamenode(std::vector<RpcAddress> addresses, Timeout patience,
                 std::function<void()> on_lost = {});

  [[nodiscard]] bool several() const { return addresses_.size() > 1; }
  // The namenode that is followed; at first the first one.
  [[nodiscard]] Client followed() const;
  // Clients of the other namenodes, in the order in which they should be asked.
  [[nodiscard]] std::vector<Client> Others() const;

  // Ends the session with the namenode before. Commands of that namenode that are being taken in
  // are taken in first.
  void Follow(Client client);

  // Ends the session for good: `on_lost` is not called any more. No other thread calls a namenode.
  void Close();

  // Runs `obey` if the client is followed, and keeps it followed meanwhile. False if it is not.
  template <typename Function>
  [[nodiscard]] bool WhileFollowed(const Client& client, Function obey) {
    const std::lock_guard obeying(obeying_);
    if (client != followed()) return false;
    obey();
    return true;
  }

 private:
  [[nodiscard]] Client MakeClient(const RpcAddress& address) const;

  const std::vector<RpcAddress> addresses_;
  const NamenodePatience patience_;
  const std::function<void()> on_lost_;
  // Held while commands are taken in. Taken before all other locks of the server.
  std::mutex obeying_;
  mutable std::mutex mutex_;
  Client followed_;
};

}  // namespace ebb::server
