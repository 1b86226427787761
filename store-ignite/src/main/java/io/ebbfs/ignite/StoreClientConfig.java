package io.ebbfs.ignite;

import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

/**
 * How a namenode reaches the store.
 *
 * @param name of this process, unique among all that run
 * @param scratch a directory for what Ignite keeps while the process runs
 * @param host the address that the nodes of the store reach
 * @param peers host:port of nodes of the store
 * @param lockTimeoutMillis how long a transaction waits for a row that this process has locked
 * @param patienceMillis how long a transaction repeats itself while other processes change its rows
 *     or nodes of the store are lost
 * @param joinMillis how long the start waits for the store, whose nodes may be starting, too
 * @param threads per pool
 * @param failureDetectionMillis after this time the store goes on without a silent namenode
 */
public record StoreClientConfig(
    String name,
    Path scratch,
    String host,
    List<String> peers,
    long lockTimeoutMillis,
    long patienceMillis,
    long joinMillis,
    int threads,
    long failureDetectionMillis) {
  public StoreClientConfig {
    if (peers.isEmpty()) {
      throw new IllegalArgumentException("no peers: give host:port of the nodes of the store");
    }
    peers = List.copyOf(peers);
  }

  /** A namenode with the usual settings. */
  public static StoreClientConfig of(Path scratch, String host, List<String> peers) {
    return new StoreClientConfig(
        "namenode-" + UUID.randomUUID(), scratch, host, peers, 10_000, 10_000, 150_000, 4, 5_000);
  }

  public StoreClientConfig withLockTimeout(long millis) {
    return new StoreClientConfig(
        name,
        scratch,
        host,
        peers,
        millis,
        patienceMillis,
        joinMillis,
        threads,
        failureDetectionMillis);
  }
}
