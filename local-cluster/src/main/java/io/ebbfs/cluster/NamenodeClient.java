package io.ebbfs.cluster;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** The namenode's coding protocol, asked from outside. Thread-safe. */
public final class NamenodeClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 20_000;

  private final CodingProtocol coding;

  /** Does not connect before the first call. */
  public NamenodeClient(String host, int port) throws IOException {
    Configuration conf = new Configuration(false);
    conf.setInt("ipc.client.connect.max.retries", 0);
    conf.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
    conf.setInt("ipc.client.connection.maxidletime", 5000);
    conf.setInt("ipc.client.rpc-timeout.ms", TIMEOUT_MILLIS);
    RPC.setProtocolEngine(conf, CodingProtocol.class, ProtobufRpcEngine2.class);
    coding =
        RPC.getProxy(
            CodingProtocol.class, CodingProtocol.VERSION, new InetSocketAddress(host, port), conf);
  }

  /** The protocol itself. */
  public CodingProtocol coding() {
    return coding;
  }

  /** The cluster as the namenode sees it. */
  public GetClusterResponseProto cluster() throws IOException {
    try {
      return coding.getCluster(null, GetClusterRequestProto.getDefaultInstance());
    } catch (ServiceException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e);
    }
  }

  @Override
  public void close() {
    RPC.stopProxy(coding);
  }
}
