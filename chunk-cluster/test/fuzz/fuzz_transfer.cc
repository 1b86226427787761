// What a client sends to the data transfer port, on a store with a finalized block (1), one that is
// being written (2), and an empty one (3).
#include <netdb.h>

#include "feed.h"
#include "quiet.h"
#include "scratch_store.h"
#include "transfer/connection.h"

// No input reaches another machine: no name and no address is resolved.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
  return EAI_FAIL;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  if (size > fuzz::kMaxInputBytes) return 0;
  const fuzz::ScratchFolder folder;
  const auto store = fuzz::OpenStore(folder.path());
  fuzz::Write(*store, 1, 1300, true);
  fuzz::Write(*store, 2, 700, false);
  fuzz::Write(*store, 3, 0, true);
  fuzz::FedSocket fed(data, size);
  transfer::TransferCounters counters;
  transfer::BalanceThrottler throttler{transfer::BalanceThrottler::Options{}};
  transfer::OpenConnection opened;
  opened.socket = fed.Take();
  transfer::RecordLanes lanes(1, [](const auto& server) { return transfer::ConnectTo(server); });
  const transfer::Connection::Services services{*store,    nullptr, nullptr, counters,
                                                throttler, lanes,   nullptr};
  (void)transfer::Connection(opened, services, {std::chrono::seconds(1), {}}).Run();
  return 0;
}
