package io.ebbfs.protocol.rpc;

import io.ebbfs.protocol.ChunkProtocol;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;

/**
 * The only place that builds proxies for EbbFS's own protocols over Hadoop RPC. A proxy connects
 * with its first call and connects again after its server was away. Proxies are thread-safe.
 */
final class RpcProxies {
  private RpcProxies() {}

  static CodingProtocol coding(InetSocketAddress namenode, RpcSettings settings, ServiceKey key)
      throws IOException {
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
