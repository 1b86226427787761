package io.ebbfs.raid;

import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Settings of Hadoop RPC that all calls of the raid-node share. */
final class Rpc {
  private static final int CONNECT_TIMEOUT_MILLIS = 10_000;

  private Rpc() {}

  /** Bounded in every respect: one attempt to connect, one answer or a time-out. */
  static Configuration configuration(long timeoutMillis, Class<?> protocol) {
    Configuration conf = new Configuration(false);
    conf.setInt("ipc.client.connect.max.retries", 0);
    conf.setInt("ipc.client.connect.max.retries.on.timeouts", 0);
    conf.setInt("ipc.client.connect.timeout", CONNECT_TIMEOUT_MILLIS);
    conf.setLong("ipc.client.rpc-timeout.ms", timeoutMillis);
    RPC.setProtocolEngine(conf, protocol, ProtobufRpcEngine2.class);
    return conf;
  }

  static CodingProtocol coding(InetSocketAddress namenode, long timeoutMillis) throws IOException {
    return RPC.getProxy(
        CodingProtocol.class,
        CodingProtocol.VERSION,
        namenode,
        configuration(timeoutMillis, CodingProtocol.class));
  }

  /** What went wrong, as an exception of the kind that the caller expects. */
  static IOException cause(ServiceException e) {
    if (e.getCause() instanceof RemoteException remote) {
      return remote.unwrapRemoteException();
    }
    return e.getCause() instanceof IOException io ? io : new IOException(e);
  }
}
