package io.ebbfs.controlplane;

import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.retry.RetryPolicies;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * CodingProtocol over Hadoop RPC. The proxy connects at the first call and again after the namenode
 * was away. Thread-safe.
 */
final class NamenodeRpc implements AutoCloseable {
  private final CodingProtocol proxy;

  NamenodeRpc(InetSocketAddress address, long timeoutMillis) throws IOException {
    Configuration conf = new Configuration(false);
    conf.setInt("ipc.client.connect.max.retries", 2);
    conf.setInt("ipc.client.connect.max.retries.on.timeouts", 1);
    conf.setInt("ipc.client.connect.timeout", 5_000);
    conf.setInt("ipc.maximum.data.length", 128 << 20);
    conf.setInt("ipc.maximum.response.length", 128 << 20);
    RPC.setProtocolEngine(conf, CodingProtocol.class, ProtobufRpcEngine2.class);
    this.proxy =
        RPC.getProtocolProxy(
                CodingProtocol.class,
                CodingProtocol.VERSION,
                address,
                UserGroupInformation.getCurrentUser(),
                conf,
                NetUtils.getDefaultSocketFactory(conf),
                (int) timeoutMillis,
                RetryPolicies.TRY_ONCE_THEN_FAIL)
            .getProxy();
  }

  Supplier<CodingProtocol> supplier() {
    return () -> proxy;
  }

  @Override
  public void close() {
    RPC.stopProxy(proxy);
  }
}
