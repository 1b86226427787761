package io.ebbfs.namespace.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Where every block truly is, and which of them changed since the last check. */
final class Copies {
  /** A block on a disk. */
  record Copy(SimDisk disk, SimBlock block) {
    @Override
    public String toString() {
      return block.blockId() + "@" + disk.uuid;
    }
  }

  private final Map<Long, List<Copy>> whole = new HashMap<>();
  private final Set<Copy> corrupt = new HashSet<>();
  private final Set<Long> changed = new TreeSet<>();
  private final Map<String, String> serverOf = new HashMap<>();

  void place(SimDisk disk) {
    serverOf.put(disk.uuid, disk.serverUuid);
  }

  /** The server that a disk is or was in. */
  String serverOf(String diskUuid) {
    return serverOf.get(diskUuid);
  }

  void added(SimDisk disk, SimBlock block) {
    changed.add(block.blockId());
    if (block.corrupt()) {
      corrupt.add(new Copy(disk, block));
    } else {
      whole.computeIfAbsent(block.blockId(), id -> new ArrayList<>(3)).add(new Copy(disk, block));
    }
  }

  void removed(SimDisk disk, SimBlock block) {
    changed.add(block.blockId());
    corrupt.remove(new Copy(disk, block));
    List<Copy> copies = whole.get(block.blockId());
    if (copies != null && copies.removeIf(c -> c.disk() == disk) && copies.isEmpty()) {
      whole.remove(block.blockId());
    }
  }

  /** The copies of a block that can be read. */
  List<Copy> of(long blockId) {
    return whole.getOrDefault(blockId, List.of());
  }

  /** The ids of all blocks that can be read anywhere. */
  Set<Long> blockIds() {
    return whole.keySet();
  }

  Set<Copy> corrupt() {
    return corrupt;
  }

  /** The blocks whose copies changed since the last call. */
  Set<Long> takeChanged() {
    Set<Long> taken = new TreeSet<>(changed);
    changed.clear();
    return taken;
  }
}
