package io.ebbfs.ignite;

import io.ebbfs.common.http.StatusServer;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collection;
import java.util.concurrent.locks.LockSupport;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCache;
import org.apache.ignite.IgniteCluster;
import org.apache.ignite.IgniteException;
import org.apache.ignite.Ignition;
import org.apache.ignite.cluster.BaselineNode;
import org.apache.ignite.cluster.ClusterNode;
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

  /** What Ignite says to a node with rows that would join nodes without any. */
  private static final String JOINS_EMPTY =
      "Node with set up BaselineTopology is not allowed to join cluster without one";

  private final Ignite ignite;
  private final StoreMember member;
  private final int configuredCopies;
  private final EndedNamenodes endedNamenodes;
  private volatile boolean closed;
  private boolean served;

  private StoreNode(Ignite ignite, StoreMember member, int configuredCopies) {
    this.ignite = ignite;
    this.member = member;
    this.configuredCopies = configuredCopies;
    this.endedNamenodes = EndedNamenodes.watch((IgniteEx) ignite);
  }

  /**
   * Starts the node; it has joined the others when the call returns.
   *
   * @throws IOException if the directory, the ports or the other nodes do not allow it
   */
  public static StoreNode start(StoreMember member, StoreNodeConfig config) throws IOException {
    Files.createDirectories(config.data());
    try {
      return new StoreNode(
          Ignition.start(IgniteSettings.server(member, config)), member, config.copies());
    } catch (IgniteException e) {
      throw new IOException(
          "the store node %s with the directory %s did not start: %s"
              .formatted(member.name(), config.data(), reason(e)),
          e);
    }
  }

  private static String reason(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (String.valueOf(cause.getMessage()).contains(JOINS_EMPTY)) {
        return "it has rows, and the nodes that run have empty disks: stop them, start this node"
            + " first, and then them";
      }
    }
    return failure.getMessage();
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
    if (!closed && !served) {
      served = true;
      LOG.info("The store node {} serves", member.name());
    }
    return !closed;
  }

  /**
   * Whether rows are refused because all nodes with copies of them were away at the same time.
   * Nothing serves them again by itself: Ignite's reset of lost partitions may take older copies.
   */
  boolean refusesRows() {
    IgniteCache<RowId, byte[]> cache = isServing() ? ignite.cache(IgniteSettings.CACHE) : null;
    return cache != null && !cache.lostPartitions().isEmpty();
  }

  private void activateNew(IgniteCluster cluster) {
    if (cluster.forServers().nodes().size() >= member.all().size()) {
      cluster.state(ClusterState.ACTIVE);
    }
  }

  /** What the node says to supervisors. */
  public StatusServer.State state() {
    return new StoreNodeState(this);
  }

  /** How many of the nodes that hold rows run; in a new store, how many run. */
  int runningNodes() {
    Collection<BaselineNode> baseline = ignite.cluster().currentBaselineTopology();
    Collection<ClusterNode> servers = ignite.cluster().forServers().nodes();
    return baseline == null
        ? servers.size()
        : (int) servers.stream().filter(server -> holdsRows(server, baseline)).count();
  }

  private static boolean holdsRows(ClusterNode server, Collection<BaselineNode> baseline) {
    return baseline.stream().anyMatch(one -> one.consistentId().equals(server.consistentId()));
  }

  /** How many nodes hold rows, whether they run or not; 0 in a new store. */
  int baselineNodes() {
    Collection<BaselineNode> baseline = ignite.cluster().currentBaselineTopology();
    return baseline == null ? 0 : baseline.size();
  }

  /** Whether the store serves; this node may still be filled with what it missed. */
  boolean isServing() {
    return !closed && ignite.cluster().state().active();
  }

  /** How many copies of each row the file of this node asks for. */
  int configuredCopies() {
    return configuredCopies;
  }

  /** How many copies of each row the store was made with, if it has so many nodes. */
  int copiesOfStore() {
    return ((IgniteEx) ignite)
            .context()
            .cache()
            .cacheDescriptor(IgniteSettings.CACHE)
            .cacheConfiguration()
            .getBackups()
        + 1;
  }

  /** How many nodes have a complete copy of the row that the fewest nodes have. */
  int copies() {
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
    endedNamenodes.close();
    ignite.close();
  }
}
