package io.ebbfs.ignite;

import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.http.StatusServer;
import java.util.Optional;

/**
 * What a store node says to supervisors and to Prometheus. It is ready when another node could
 * stop: the store serves and each row has two complete copies. Thread-safe.
 *
 * @param node the node
 */
record StoreNodeState(StoreNode node) implements StatusServer.State {
  private static final int COPIES = 2;

  @Override
  public Optional<String> notReady() {
    if (!node.isServing()) {
      return Optional.of("the store waits for its nodes: %d run".formatted(node.runningNodes()));
    }
    if (node.refusesRows()) {
      return Optional.of(
          "some rows are refused, because all nodes with copies were away at once; see"
              + " docs/metadata-store.md, 'Two deaths'");
    }
    int wanted = Math.min(COPIES, node.baselineNodes());
    return node.copies() < wanted
        ? Optional.of("some rows have %d of %d copies".formatted(node.copies(), wanted))
        : Optional.empty();
  }

  @Override
  public String metrics() {
    PrometheusText text = new PrometheusText();
    text.gauge("ebbfs_store_serving", "1 if the store serves, else 0", node.isServing() ? 1 : 0);
    text.gauge("ebbfs_store_nodes", "Nodes that hold rows", node.baselineNodes());
    text.gauge("ebbfs_store_nodes_running", "Store nodes that run", node.runningNodes());
    text.gauge(
        "ebbfs_store_copies", "Complete copies of the row that has the fewest", node.copies());
    text.gauge(
        "ebbfs_store_refuses_rows",
        "1 if rows are refused because all nodes with copies were away, else 0",
        node.refusesRows() ? 1 : 0);
    return text.withProcess().toString();
  }
}
