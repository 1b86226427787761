package io.ebbfs.verify.cluster;

import java.util.Map;

/** Settings of stock HDFS clients on clusters in which parts fail. */
public final class ClientSettings {
  /** Every wait of a client is bounded by some seconds, so that it notices faults in time. */
  public static final Map<String, String> UNDER_FAULTS =
      Map.of(
          "dfs.blocksize", "1048576",
          "dfs.client.socket-timeout", "8000",
          "dfs.client.datanode-restart.timeout", "5",
          "ipc.client.rpc-timeout.ms", "20000",
          "ipc.client.connect.timeout", "3000",
          "ipc.client.connect.max.retries", "30",
          "ipc.client.connect.retry.interval", "300",
          "ipc.client.connect.max.retries.on.timeouts", "3");

  private ClientSettings() {}
}
