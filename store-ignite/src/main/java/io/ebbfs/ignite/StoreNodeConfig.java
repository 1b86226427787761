package io.ebbfs.ignite;

import java.nio.file.Path;
import java.util.List;

/**
 * Settings of a node of the store.
 *
 * @param name unique in the store and the same for ever
 * @param data the directory of its rows
 * @param host the address that the other nodes and the namenodes reach
 * @param port where it is found
 * @param transferPort where rows are transferred
 * @param peers host:port of the nodes of the store, or of some that are always there
 * @param nodes how many nodes a new store waits for
 * @param memoryBytes memory for rows, outside of the heap
 * @param logBytes room for the log on the disk
 * @param partitions of a new store, a power of two; fixed for ever
 * @param threads per pool
 * @param failureDetectionMillis after this time the others go on without a node that is silent
 * @param syncEachCommit whether each commit waits for the disk
 */
public record StoreNodeConfig(
    String name,
    Path data,
    String host,
    int port,
    int transferPort,
    List<String> peers,
    int nodes,
    long memoryBytes,
    long logBytes,
    int partitions,
    int threads,
    long failureDetectionMillis,
    boolean syncEachCommit) {
  private static final long MIN_MEMORY = 32L << 20;

  public StoreNodeConfig {
    if (nodes < 1) {
      throw new IllegalArgumentException(
          "a store of " + nodes + " nodes: give at least 1, and 3 to survive the loss of one");
    }
    if (Integer.bitCount(partitions) != 1) {
      throw new IllegalArgumentException(partitions + " partitions: give a power of two");
    }
    if (memoryBytes < MIN_MEMORY) {
      throw new IllegalArgumentException(
          memoryBytes + " bytes of memory: give at least " + MIN_MEMORY);
    }
    if (peers.isEmpty()) {
      throw new IllegalArgumentException("no peers: give host:port of the nodes of the store");
    }
    peers = List.copyOf(peers);
  }

  /** A node with the usual settings. */
  public static StoreNodeConfig of(
      String name, Path data, String host, int port, int transferPort, List<String> peers) {
    return new StoreNodeConfig(
        name,
        data,
        host,
        port,
        transferPort,
        peers,
        peers.size(),
        1L << 30,
        1L << 30,
        256,
        Math.max(4, Runtime.getRuntime().availableProcessors()),
        2_000,
        false);
  }

  /** The same for a machine with little memory, and for tests. */
  public StoreNodeConfig small() {
    return new StoreNodeConfig(
        name,
        data,
        host,
        port,
        transferPort,
        peers,
        nodes,
        128L << 20,
        256L << 20,
        32,
        4,
        failureDetectionMillis,
        syncEachCommit);
  }
}
