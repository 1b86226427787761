package io.ebbfs.namenode.datanodes;

import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants;

/**
 * What an operator allows the moves of HDFS's balancer to take, by order of setBalancerBandwidth.
 * Each server hears of it once, with its next heartbeat, and keeps it until its process ends. As in
 * HDFS, the order is not durable. Thread-safe.
 */
public final class BalancerBandwidth {
  private final Map<String, Long> untold = new ConcurrentHashMap<>();

  /**
   * Orders it for these servers, live or not.
   *
   * @throws IllegalArgumentException if it is more than a server can be told
   */
  public void set(long bytesPerSecond, Collection<String> serverUuids) {
    if (bytesPerSecond > HdfsServerConstants.MAX_BANDWIDTH_PER_DATANODE) {
      throw new IllegalArgumentException(
          "a balancer's bandwidth of %d bytes per second exceeds the maximum of %d: give less"
              .formatted(bytesPerSecond, HdfsServerConstants.MAX_BANDWIDTH_PER_DATANODE));
    }
    serverUuids.forEach(uuid -> untold.put(uuid, bytesPerSecond));
  }

  /** Takes what a server is to be told now. A server is told nothing of 0 or less, as in HDFS. */
  public OptionalLong take(String serverUuid) {
    Long bytesPerSecond = untold.remove(serverUuid);
    return bytesPerSecond == null || bytesPerSecond <= 0
        ? OptionalLong.empty()
        : OptionalLong.of(bytesPerSecond);
  }
}
