package io.ebbfs.protocol.rpc;

import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * CodingProtocol over Hadoop RPC, at a namenode or at the one of several namenodes that serves.
 * Thread-safe.
 */
public final class NamenodeClient implements AutoCloseable {
  private final CodingProtocol coding;

  /** Does not connect before the first call. The key proves that the caller is a service. */
  public NamenodeClient(InetSocketAddress namenode, RpcSettings settings, ServiceKey key)
      throws IOException {
    this(NamenodeAddresses.of(namenode), settings, key);
  }

  /** The same; each call goes to the namenode that serves. */
  public NamenodeClient(NamenodeAddresses namenodes, RpcSettings settings, ServiceKey key)
      throws IOException {
    coding = RpcProxies.coding(namenodes, settings, key);
  }

  /** The protocol itself. {@link RemoteCall#answerOf} unwraps the failures of its calls. */
  public CodingProtocol coding() {
    return coding;
  }

  /** The cluster as the namenode sees it. */
  public GetClusterResponseProto cluster() throws IOException {
    return RemoteCall.answerOf(
        () -> coding.getCluster(null, GetClusterRequestProto.getDefaultInstance()));
  }

  @Override
  public void close() {
    RpcProxies.stop(coding);
  }
}
