package io.ebbfs.cluster;

import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import java.io.IOException;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** A chunk server's own protocol, asked from outside. Thread-safe. */
public final class ChunkServerClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 5_000;

  private final ChunkProtocol chunks;

  /** Does not connect before the first call; the port is that of the server's RPC. */
  public ChunkServerClient(String host, int ipcPort) throws IOException {
    chunks = Rpc.proxy(ChunkProtocol.class, ChunkProtocol.VERSION, host, ipcPort, TIMEOUT_MILLIS);
  }

  /** Its disks, what it does, and its counters. */
  public ChunkStatusResponseProto status() throws IOException {
    try {
      return chunks.status(null, ChunkStatusRequestProto.getDefaultInstance());
    } catch (ServiceException e) {
      throw Rpc.cause(e);
    }
  }

  @Override
  public void close() {
    RPC.stopProxy(chunks);
  }
}
