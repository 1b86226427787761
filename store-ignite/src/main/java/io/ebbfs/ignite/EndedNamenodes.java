package io.ebbfs.ignite;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Collection;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.internal.managers.communication.GridDisconnectListener;
import org.apache.ignite.spi.communication.tcp.TcpCommunicationSpi;
import org.apache.ignite.spi.discovery.tcp.internal.TcpDiscoveryNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the store go on at once without a namenode whose process has ended. Ignite alone waits for
 * the time of its failure detection, because a client that has lost its connections may come back.
 * Until then, the rows of the commits that the namenode had begun stay locked, and threads of the
 * store wait for a connection on which to answer it.
 *
 * <p>A process has ended if a connection to it breaks and its machine then refuses connections at
 * its port. Should it live nevertheless, behind a firewall that refuses them, it learns that it was
 * left out, and joins again; the store has decided its open commits by then.
 */
final class EndedNamenodes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EndedNamenodes.class);

  /** A process that ends closes one socket after the other, so the first try may come too early. */
  private static final int TRIES = 10;

  private static final long AGAIN_MILLIS = 20;
  private static final long PING_MILLIS = 100;
  private static final int TIMEOUT_MILLIS = 500;

  /** One for the pings, which a frozen namenode holds, and one for the probes. */
  private static final int THREADS = 2;

  private final IgniteEx ignite;
  private final String attributes;
  private final GridDisconnectListener listener = node -> schedule(node, TRIES, 0);
  private final ScheduledThreadPoolExecutor prober =
      new ScheduledThreadPoolExecutor(THREADS, EndedNamenodes::daemon);

  private EndedNamenodes(IgniteEx ignite) {
    this.ignite = ignite;
    this.attributes = ignite.configuration().getCommunicationSpi().getName() + '.';
  }

  /** Begins to watch the connections of a node of the store. */
  static EndedNamenodes watch(IgniteEx node) {
    EndedNamenodes watch = new EndedNamenodes(node);
    node.context().io().addDisconnectListener(watch.listener);
    watch.prober.scheduleWithFixedDelay(
        watch::pingAll, PING_MILLIS, PING_MILLIS, TimeUnit.MILLISECONDS);
    return watch;
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "ended-namenodes");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * A ping goes over the other connection of a namenode, which it has with one node alone. When
   * that one is lost, too, a ping fails at once; a connection that is reset is noticed late.
   */
  private void pingAll() {
    try {
      for (ClusterNode node : ignite.cluster().forClients().nodes()) {
        if (isConnectedHere(node) && !ignite.cluster().pingNode(node.id())) {
          schedule(node.id(), TRIES, 0);
        }
      }
    } catch (RuntimeException e) {
      LOG.debug("The namenodes are not pinged: {}", e.toString());
    }
  }

  private boolean isConnectedHere(ClusterNode node) {
    return node instanceof TcpDiscoveryNode namenode
        && ignite.localNode().id().equals(namenode.clientRouterNodeId());
  }

  private void schedule(UUID namenode, int tries, long delayMillis) {
    try {
      prober.schedule(() -> probe(namenode, tries), delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("This node stops, and leaves the question of {} to others", namenode);
    }
  }

  private void probe(UUID namenode, int tries) {
    try {
      leaveOutIfEnded(namenode);
    } catch (IOException | RuntimeException e) {
      LOG.debug("Whether {} has ended is not known: {}", namenode, e.toString());
      if (tries > 1) {
        schedule(namenode, tries - 1, AGAIN_MILLIS);
      }
    }
  }

  /**
   * Lets the store go on without a namenode if its process has ended.
   *
   * @throws IOException if neither a refusal nor an answer has come
   */
  void leaveOutIfEnded(UUID id) throws IOException {
    ClusterNode node = ignite.cluster().node(id);
    if (node != null && node.isClient() && refuses(node)) {
      LOG.info("The process of {} has ended; the store goes on without it", id);
      ignite.context().discovery().failNode(id, null);
    }
  }

  /** Whether the machine of a namenode refuses connections at all of its addresses. */
  private boolean refuses(ClusterNode node) throws IOException {
    Integer port = node.attribute(attributes + TcpCommunicationSpi.ATTR_PORT);
    Collection<String> addresses = node.attribute(attributes + TcpCommunicationSpi.ATTR_ADDRS);
    for (String address : addresses) {
      if (!refuses(new InetSocketAddress(address, port))) {
        return false;
      }
    }
    return !addresses.isEmpty();
  }

  private static boolean refuses(InetSocketAddress address) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(address, TIMEOUT_MILLIS);
      takeGreeting(socket);
      return false;
    } catch (ConnectException e) {
      return true;
    }
  }

  /**
   * Reads what a process sends to each one that connects, and ends the connection in order: closed
   * with unread bytes, it would be reset, and Ignite holds the thread of such a connection for a
   * second.
   */
  private static void takeGreeting(Socket socket) throws IOException {
    socket.setSoTimeout(TIMEOUT_MILLIS);
    InputStream greeting = socket.getInputStream();
    if (greeting.read() < 0) {
      throw new EOFException("the process has closed the connection");
    }
    socket.shutdownOutput();
    greeting.readAllBytes();
  }

  @Override
  public void close() {
    ignite.context().io().removeDisconnectListener(listener);
    prober.shutdownNow();
  }
}
