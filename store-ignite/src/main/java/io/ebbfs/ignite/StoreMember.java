package io.ebbfs.ignite;

import java.util.List;

/**
 * A node's place in the store.
 *
 * @param host the address that the other nodes and the namenodes reach
 * @param port where the node is found
 * @param all host:port of the nodes of the store, this one included; a new store waits for all
 */
public record StoreMember(String host, int port, List<String> all) {
  public StoreMember {
    if (all.isEmpty()) {
      throw new IllegalArgumentException("a store without nodes: give host:port of each");
    }
    all = List.copyOf(all);
  }

  /** The name of the node, the same for ever. */
  String name() {
    return host + "-" + port; // Ignite allows no colon
  }
}
