package io.ebbfs.cluster;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Proxies for protocols of a cluster that is asked from outside: they do not wait for the dead. */
final class Rpc {
  private Rpc() {}

  /** A proxy that connects with its first call and does not try again. */
  static <P> P proxy(Class<P> protocol, long version, String host, int port, int timeoutMillis)
      throws IOException {
    Configuration conf = new Configuration(false);
    conf.setInt("ipc.client.connect.max.retries", 0);
    conf.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
    conf.setInt("ipc.client.connection.maxidletime", 5000);
    conf.setInt("ipc.client.rpc-timeout.ms", timeoutMillis);
    RPC.setProtocolEngine(conf, protocol, ProtobufRpcEngine2.class);
    return RPC.getProxy(protocol, version, new InetSocketAddress(host, port), conf);
  }

  /** What went wrong with a call. */
  static IOException cause(ServiceException e) {
    return e.getCause() instanceof IOException io ? io : new IOException(e);
  }
}
