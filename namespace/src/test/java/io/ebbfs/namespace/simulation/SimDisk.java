package io.ebbfs.namespace.simulation;

import java.util.Map;
import java.util.TreeMap;

/** A disk of a simulated chunk server. */
final class SimDisk {
  static final long CAPACITY = 1L << 40;

  final String uuid;
  final Map<Long, SimBlock> blocks = new TreeMap<>();
  boolean failed;

  SimDisk(String uuid) {
    this.uuid = uuid;
  }

  long used() {
    return blocks.values().stream().mapToLong(SimBlock::lengthBytes).sum();
  }
}
