package io.ebbfs.cluster;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.io.IOException;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** The namenode's coding protocol, asked from outside. Thread-safe. */
public final class NamenodeClient implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 20_000;

  private final CodingProtocol coding;

  /** Does not connect before the first call. */
  public NamenodeClient(String host, int port) throws IOException {
    coding = Rpc.proxy(CodingProtocol.class, CodingProtocol.VERSION, host, port, TIMEOUT_MILLIS);
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
      throw Rpc.cause(e);
    }
  }

  @Override
  public void close() {
    RPC.stopProxy(coding);
  }
}
