package io.ebbfs.protocol.rpc;

import io.ebbfs.protocol.PeerProtocol;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedAnswerProto;
import io.ebbfs.protocol.proto.PeerProtos.ForwardedCallProto;
import io.ebbfs.protocol.proto.PeerProtos.GetViewRequestProto;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;

/** A namenode's PeerProtocol over Hadoop RPC. Thread-safe. */
public final class PeerClient implements AutoCloseable {
  private final PeerProtocol peer;

  /** Does not connect before the first call. The key proves that the caller is a service. */
  public PeerClient(InetSocketAddress namenode, RpcSettings settings, ServiceKey key)
      throws IOException {
    peer = RpcProxies.peer(namenode, settings, key);
  }

  /**
   * Runs a client's call at the namenode.
   *
   * @throws IOException if the namenode does not lead, or does not answer
   */
  public ForwardedAnswerProto forward(ForwardedCallProto call) throws IOException {
    return RemoteCall.answerOf(() -> peer.forward(null, call));
  }

  /**
   * The chunk servers as the namenode sees them.
   *
   * @param writers clients whose leases the namenode renews
   */
  public ClusterViewProto view(Collection<String> writers) throws IOException {
    GetViewRequestProto request = GetViewRequestProto.newBuilder().addAllWriters(writers).build();
    return RemoteCall.answerOf(() -> peer.getView(null, request));
  }

  /** Ends the connection; calls under way fail. */
  @Override
  public void close() {
    RpcProxies.stop(peer);
  }
}
