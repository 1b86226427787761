package io.ebbfs.verify.simulator;

import java.util.Set;
import java.util.TreeSet;

/**
 * The network between namenode, raid-nodes and chunk servers, which are known by their names. A cut
 * between two processes stops all messages in both directions. Used by one thread.
 */
final class SimNetwork {
  static final String NAMENODE = "namenode";

  private final Set<String> cuts = new TreeSet<>();

  private static String pair(String one, String other) {
    return one.compareTo(other) < 0 ? one + "|" + other : other + "|" + one;
  }

  void cut(String one, String other) {
    cuts.add(pair(one, other));
  }

  void healAll() {
    cuts.clear();
  }

  boolean isWhole() {
    return cuts.isEmpty();
  }

  boolean isCut(String one, String other) {
    return !cuts.isEmpty() && cuts.contains(pair(one, other));
  }
}
