package io.ebbfs.protocol.rpc;

import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.PeerProtocol;
import io.ebbfs.protocol.proto.CodingProtos.ListTransitionsRequestProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;

/**
 * The only place that builds proxies for EbbFS's own protocols over Hadoop RPC. A proxy connects
 * with its first call and connects again after its server was away. Proxies are thread-safe.
 */
final class RpcProxies {
  /** The calls of CodingProtocol that change nothing, or nothing more when they are repeated. */
  private static final List<String> REPEATABLE =
      List.of(
          "getReadPlan",
          "listFiles",
          "listStripes",
          "getCluster",
          "listTransitions",
          "renew",
          "reportHeat",
          "checkQuotas");

  /** Names a transition that never exists. */
  private static final ListTransitionsRequestProto NO_TRANSITION =
      ListTransitionsRequestProto.newBuilder().addTransitionIds(0).build();

  private RpcProxies() {}

  /** Calls go to the namenode that serves. */
  static CodingProtocol coding(NamenodeAddresses namenodes, RpcSettings settings, ServiceKey key)
      throws IOException {
    return namenodes.all().size() == 1
        ? coding(namenodes.first(), settings, key)
        : coding(namenodes, settings, key, FailoverCalls.Patience.DEFAULT);
  }

  static CodingProtocol coding(
      NamenodeAddresses namenodes,
      RpcSettings settings,
      ServiceKey key,
      FailoverCalls.Patience patience)
      throws IOException {
    List<FailoverCalls.Namenode<CodingProtocol>> proxies = new ArrayList<>();
    for (InetSocketAddress address : namenodes.all()) {
      proxies.add(
          new FailoverCalls.Namenode<>(
              NamenodeAddresses.text(address), coding(address, settings, key)));
    }
    return (CodingProtocol)
        Proxy.newProxyInstance(
            CodingProtocol.class.getClassLoader(),
            new Class<?>[] {CodingProtocol.class},
            new FailoverCalls<>(
                proxies,
                REPEATABLE,
                namenode -> namenode.listTransitions(null, NO_TRANSITION),
                patience));
  }

  private static CodingProtocol coding(
      InetSocketAddress namenode, RpcSettings settings, ServiceKey key) throws IOException {
    return key.signing(
        CodingProtocol.class,
        proxy(CodingProtocol.class, CodingProtocol.VERSION, namenode, settings));
  }

  static ChunkProtocol chunk(InetSocketAddress chunkServer, RpcSettings settings, ServiceKey key)
      throws IOException {
    return key.signing(
        ChunkProtocol.class,
        proxy(ChunkProtocol.class, ChunkProtocol.VERSION, chunkServer, settings));
  }

  static PeerProtocol peer(InetSocketAddress namenode, RpcSettings settings, ServiceKey key)
      throws IOException {
    return key.signing(
        PeerProtocol.class, proxy(PeerProtocol.class, PeerProtocol.VERSION, namenode, settings));
  }

  private static <P> P proxy(
      Class<P> protocol, long version, InetSocketAddress server, RpcSettings settings)
      throws IOException {
    Configuration conf = settings.configuration();
    RPC.setProtocolEngine(conf, protocol, ProtobufRpcEngine2.class);
    return RPC.getProxy(protocol, version, server, conf);
  }

  static void stop(Object proxy) {
    RPC.stopProxy(proxy);
  }
}
