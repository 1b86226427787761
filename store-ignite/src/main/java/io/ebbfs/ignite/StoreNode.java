package io.ebbfs.ignite;

import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.locks.LockSupport;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCluster;
import org.apache.ignite.IgniteException;
import org.apache.ignite.Ignition;
import org.apache.ignite.cluster.ClusterState;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.spi.metric.IntMetric;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node of the store on Ignite: it holds rows in its memory and on its disk.
 *
 * <p>A new store begins to serve when as many nodes run as it was to have; they are its baseline
 * from then on. Later, the store serves as soon as all nodes of the baseline run, and while more
 * than half of them do.
 */
public final class StoreNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreNode.class);
  private static final long POLL_NANOS = 50_000_000;

  private final Ignite ignite;
  private final StoreNodeConfig config;
  private volatile boolean closed;

  private StoreNode(Ignite ignite, StoreNodeConfig config) {
    this.ignite = ignite;
    this.config = config;
  }

  /**
   * Starts the node; it has joined the others when the call returns.
   *
   * @throws IOException if the directory, the ports or the other nodes do not allow it
   */
  public static StoreNode start(StoreNodeConfig config) throws IOException {
    Files.createDirectories(config.data());
    try {
      return new StoreNode(Ignition.start(IgniteSettings.server(config)), config);
    } catch (IgniteException e) {
      throw new IOException(
          "the store node '%s' at %s:%d with the directory %s did not start: %s"
              .formatted(
                  config.name(), config.host(), config.port(), config.data(), e.getMessage()),
          e);
    }
  }

  /** Waits until the store serves. Returns false if the node was closed before. */
  public boolean awaitServing() {
    IgniteCluster cluster = ignite.cluster();
    while (!closed && !cluster.state().active()) {
      if (cluster.currentBaselineTopology() == null) {
        activateNew(cluster);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    if (!closed) {
      LOG.info("The store node {} serves", config.name());
    }
    return !closed;
  }

  private void activateNew(IgniteCluster cluster) {
    if (cluster.forServers().nodes().size() >= config.nodes()) {
      cluster.state(ClusterState.ACTIVE);
    }
  }

  /**
   * How many nodes have a complete copy of the row that the fewest nodes have. While it is 1, no
   * other node may stop.
   */
  public int copies() {
    IntMetric copies =
        ((IgniteEx) ignite)
            .context()
            .metric()
            .registry("cacheGroups." + IgniteSettings.CACHE)
            .findMetric("MinimumNumberOfPartitionCopies");
    return copies == null ? 0 : copies.value();
  }

  /** Leaves the store; rows are on the disk. */
  @Override
  public void close() {
    closed = true;
    ignite.close();
  }
}
