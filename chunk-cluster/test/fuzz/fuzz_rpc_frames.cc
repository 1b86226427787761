// What a client sends to the RPC port. A call is parsed as far as the server does before it knows
// the method.
#include "ProtobufRpcEngine2.pb.h"
#include "feed.h"
#include "quiet.h"
#include "rpc/server_connection.h"
#include "rpc/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  if (size > fuzz::kMaxInputBytes) return 0;
  fuzz::FedSocket fed(data, size);
  RpcServerOptions options;
  rpc_internal::ServerConnection connection(fed.Take(), options);
  if (!connection.Handshake()) return 0;
  while (auto call = connection.NextCall()) {
    rpc_wire::Cursor cursor(std::string_view(call->frame).substr(call->body_offset));
    hadoop::common::RequestHeaderProto header;
    if (cursor.Next(header, "the header of the call")) (void)cursor.Next();
  }
  return 0;
}
