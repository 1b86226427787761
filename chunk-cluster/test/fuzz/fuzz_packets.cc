// Packets of data transfer.
#include "feed.h"
#include "quiet.h"
#include "transfer/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  if (size > fuzz::kMaxInputBytes) return 0;
  fuzz::FedSocket fed(data, size);
  // A small buffer, so that packets begin anywhere in it.
  SocketReader reader(fed.get(), 64);
  while (auto packet = transfer::ReadPacket(reader, std::chrono::seconds(5))) {
    if (packet->raw.size() != packet->raw.size_bytes()) abort();
    if (packet->sums.size() + packet->data.size() > packet->raw.size()) abort();
    (void)transfer::HasPacket(reader);
  }
  return 0;
}
