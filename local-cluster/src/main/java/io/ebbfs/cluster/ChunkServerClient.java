package io.ebbfs.cluster;

import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.ChunkStatusResponseProto;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** A chunk server's own protocol, asked from outside. Thread-safe. */
public final class ChunkServerClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 5_000;

  private final ChunkProtocol chunks;

  /** Does not connect before the first call; the port is that of the server's RPC. */
  public ChunkServerClient(String host, int ipcPort) throws IOException {
    Configuration conf = new Configuration(false);
    conf.setInt("ipc.client.connect.max.retries", 0);
    conf.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
    conf.setInt("ipc.client.connection.maxidletime", 5000);
    conf.setInt("ipc.client.rpc-timeout.ms", TIMEOUT_MILLIS);
    RPC.setProtocolEngine(conf, ChunkProtocol.class, ProtobufRpcEngine2.class);
    chunks =
        RPC.getProxy(
            ChunkProtocol.class, ChunkProtocol.VERSION, new InetSocketAddress(host, ipcPort), conf);
  }

  /** Its disks, what it does, and its counters. */
  public ChunkStatusResponseProto status() throws IOException {
    try {
      return chunks.status(null, ChunkStatusRequestProto.getDefaultInstance());
    } catch (ServiceException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e);
    }
  }

  @Override
  public void close() {
    RPC.stopProxy(chunks);
  }
}
