package io.ebbfs.workloads.data;

import io.ebbfs.testbed.network.ShapedNetwork;
import java.io.IOException;
import java.util.List;

/**
 * The links between which both systems work: a chunk server and a DataNode share one, and the
 * measuring clients share one. Of two systems that share a link, one is idle. It receives the
 * answers to its heartbeats, which count too.
 *
 * @param network null for loopback, where nobody counts bytes
 */
record SharedLinks(ShapedNetwork network, int servers) {
  /** Bytes that came over the links, with the headers of packets. */
  record Received(long byServers, long byClients) {
    Received minus(Received before) {
      return new Received(byServers - before.byServers, byClients - before.byClients);
    }

    long all() {
      return byServers + byClients;
    }
  }

  boolean areShaped() {
    return network != null;
  }

  /** What has come so far; null for loopback. */
  Received received() throws IOException {
    return network == null
        ? null
        : new Received(network.receivedByServers(servers), network.receivedByClients());
  }

  /**
   * What has come since then.
   *
   * @param before an earlier answer; null for loopback
   */
  Received since(Received before) throws IOException {
    return before == null ? null : received().minus(before);
  }

  /** A command that runs behind the link of the measuring clients. */
  List<String> behindLink(List<String> command) {
    return network == null ? command : network.clientCommand(command);
  }

  /** A command that runs where no link has a rate. */
  List<String> unshaped(List<String> command) {
    return network == null ? command : network.unshapedCommand(command);
  }
}
