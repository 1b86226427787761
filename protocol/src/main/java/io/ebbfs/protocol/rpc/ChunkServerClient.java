package io.ebbfs.protocol.rpc;

import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import java.io.IOException;
import java.net.InetSocketAddress;

/** A chunk server's ChunkProtocol over Hadoop RPC. Thread-safe. */
public final class ChunkServerClient implements AutoCloseable {
  private final ChunkProtocol chunk;

  /** Does not connect before the first call; the address is that of the server's RPC port. */
  public ChunkServerClient(InetSocketAddress server, RpcSettings settings, ServiceKey key)
      throws IOException {
    chunk = RpcProxies.chunk(server, settings, key);
  }

  /** The protocol itself. {@link RemoteCall#answerOf} unwraps the failures of its calls. */
  public ChunkProtocol chunk() {
    return chunk;
  }

  /** Its disks, its work in progress, and its counters. */
  public ChunkStatusResponseProto status() throws IOException {
    return RemoteCall.answerOf(
        () -> chunk.status(null, ChunkStatusRequestProto.getDefaultInstance()));
  }

  @Override
  public void close() {
    RpcProxies.stop(chunk);
  }
}
