#include "client/local_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <memory>
#include <set>

namespace ebb::client {

namespace {

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::string TextOf(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address == nullptr) return text;
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  if (bytes != nullptr) inet_ntop(address->sa_family, bytes, text, sizeof text);
  return text;
}

// Without addresses if the system does not tell them: then every server counts as a remote one.
std::set<std::string> AddressesOfThisMachine() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeInterfaces> owned(list);
  std::set<std::string> addresses;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (auto text = TextOf(at->ifa_addr); !text.empty()) addresses.insert(std::move(text));
  }
  return addresses;
}

}  // namespace

bool IsLocalAddress(const std::string& address) {
  static const std::set<std::string> kAddresses = AddressesOfThisMachine();
  return kAddresses.contains(address);
}

}  // namespace ebb::client
