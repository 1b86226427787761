package io.ebbfs.ignite;

import io.ebbfs.namenode.store.StoreOpenException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteException;
import org.apache.ignite.Ignition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as a client of the store. If the store does not answer a commit, or goes on without
 * this process, the process leaves and joins again: the nodes then decide the open transactions of
 * the client that has left. Without that, a transaction that hangs would keep the nodes from
 * serving anybody. Thread-safe.
 */
final class StoreConnection implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreConnection.class);
  private static final long POLL_NANOS = 20_000_000;

  /** A membership. */
  record Joined(Ignite ignite, IgniteRows rows) {}

  private final StoreClientConfig config;
  private final StoreCalls calls;
  private int joins;
  private boolean closed;
  private volatile Joined joined;

  /**
   * @throws StoreOpenException if the store is not there, or not complete, within the time to join
   */
  StoreConnection(StoreClientConfig config, StoreCalls calls) throws StoreOpenException {
    this.config = config;
    this.calls = calls;
    this.joined = join();
  }

  /**
   * The present membership.
   *
   * @throws IOException if this process has left the store, and has not joined again yet
   */
  Joined joined() throws IOException {
    Joined now = joined;
    if (now != null && now.ignite.cluster().clientReconnectFuture() != null) {
      // The nodes went on without this process, or all of them were restarted: what it knows of the
      // cache is of no use any more.
      renew(now);
      now = null;
    }
    if (now == null) {
      throw new IOException(
          closed()
              ? "the metadata store is closed: the namenode is shutting down"
              : "the metadata store at %s did not answer, and this namenode joins it again; try again later"
                  .formatted(config.peers()));
    }
    return now;
  }

  private synchronized boolean closed() {
    return closed;
  }

  /** Leaves the store and joins it again, in the background. */
  synchronized void renew(Joined broken) {
    if (joined == broken && !closed) {
      LOG.warn("The metadata store does not answer; this process leaves and joins it again");
      joined = null;
      Thread thread = new Thread(() -> rejoin(broken), "store-rejoin");
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Reads are not answered any more; calls that are under way fail when this process leaves. */
  private void renewSilent(IgniteRows rows) {
    Joined now = joined;
    if (now != null && now.rows == rows) {
      renew(now);
    }
  }

  private void rejoin(Joined broken) {
    broken.ignite.close();
    while (!closed()) {
      try {
        use(join());
        return;
      } catch (StoreOpenException e) {
        LOG.warn("The metadata store cannot be joined yet: {}", e.getMessage());
      }
    }
  }

  private synchronized void use(Joined again) {
    if (closed) {
      again.ignite.close();
    } else {
      joined = again;
      LOG.info("This process has joined the metadata store again");
    }
  }

  private Joined join() throws StoreOpenException {
    Ignite ignite = start();
    boolean complete = false;
    try {
      awaitActive(ignite);
      Joined made =
          new Joined(
              ignite, new IgniteRows(ignite, config.patienceMillis(), calls, this::renewSilent));
      complete = true;
      return made;
    } finally {
      if (!complete) {
        ignite.close();
      }
    }
  }

  private Ignite start() throws StoreOpenException {
    try {
      return Ignition.start(IgniteSettings.client(config, ++joins));
    } catch (IgniteException e) {
      throw new StoreOpenException(
          "no node of the metadata store answers at %s within %d ms: %s; start its nodes"
              .formatted(config.peers(), config.joinMillis(), e.getMessage()),
          e);
    }
  }

  private void awaitActive(Ignite ignite) throws StoreOpenException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.joinMillis());
    while (!ignite.cluster().state().active() || ignite.cache(IgniteSettings.CACHE) == null) {
      if (System.nanoTime() > deadline) {
        throw new StoreOpenException(
            "the metadata store at %s is not complete after %d ms: %d nodes run; start the missing ones"
                .formatted(
                    config.peers(),
                    config.joinMillis(),
                    ignite.cluster().forServers().nodes().size()),
            null);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Leaves the store. Transactions that are under way fail; those that commit may succeed. */
  @Override
  public void close() {
    Joined last;
    synchronized (this) {
      closed = true;
      last = joined;
      joined = null;
    }
    if (last != null) {
      last.ignite.close();
    }
  }
}
