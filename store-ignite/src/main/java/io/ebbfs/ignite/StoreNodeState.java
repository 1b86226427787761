package io.ebbfs.ignite;

import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.http.StatusServer;
import java.util.Optional;

/**
 * What a store node says to supervisors and to Prometheus. It is ready when another node may stop:
 * the store serves, and each row has all its copies, so that all nodes run that hold it.
 * Thread-safe.
 *
 * @param node the node
 */
record StoreNodeState(StoreNode node) implements StatusServer.State {
  @Override
  public Optional<String> notReady() {
    if (!node.isServing()) {
      return Optional.of("the store waits for its nodes: %d run".formatted(node.runningNodes()));
    }
    if (node.refusesRows()) {
      return Optional.of(
          "some rows are refused, because all nodes with copies were away at once; stop all nodes, then"
              + " start all (docs/metadata-store.md, 'Lost partitions')");
    }
    int made = node.copiesOfStore();
    if (made != node.configuredCopies()) {
      return Optional.of(
          "the store was made with %d copies of each row, and 'copies: %d' of store.yaml does not change it; write 'copies: %d'"
              .formatted(made, node.configuredCopies(), made));
    }
    int wanted = Math.min(made, node.baselineNodes());
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
