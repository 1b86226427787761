package io.ebbfs.verify.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The places where every block truly is, and the blocks that changed since the last check. */
final class SimReplicaMap {
  /** A block on a disk. */
  record SimReplica(SimDisk disk, SimBlock block) {
    @Override
    public String toString() {
      return block.blockId() + "@" + disk.uuid;
    }
  }

  private final Map<Long, List<SimReplica>> readable = new HashMap<>();
  private final Set<SimReplica> corrupt = new HashSet<>();
  private final Map<Long, List<SimOpenReplica>> open = new HashMap<>();
  private final Set<Long> changed = new TreeSet<>();
  private final Map<String, String> serverOf = new HashMap<>();
  private final Set<Long> disturbed = new HashSet<>();

  void place(SimDisk disk) {
    serverOf.put(disk.uuid, disk.serverUuid);
  }

  /** The server that has or had the disk. */
  String serverOf(String diskUuid) {
    return serverOf.get(diskUuid);
  }

  void added(SimDisk disk, SimBlock block) {
    changed.add(block.blockId());
    if (block.corrupt()) {
      corrupt.add(new SimReplica(disk, block));
    } else {
      readable
          .computeIfAbsent(block.blockId(), id -> new ArrayList<>(3))
          .add(new SimReplica(disk, block));
    }
  }

  void removed(SimDisk disk, SimBlock block) {
    changed.add(block.blockId());
    corrupt.remove(new SimReplica(disk, block));
    List<SimReplica> replicas = readable.get(block.blockId());
    if (replicas != null && replicas.removeIf(c -> c.disk() == disk) && replicas.isEmpty()) {
      readable.remove(block.blockId());
    }
  }

  void opened(SimOpenReplica replica) {
    changed.add(replica.blockId);
    open.computeIfAbsent(replica.blockId, id -> new ArrayList<>(3)).add(replica);
  }

  void closed(SimOpenReplica replica) {
    changed.add(replica.blockId);
    List<SimOpenReplica> replicas = open.get(replica.blockId);
    if (replicas != null && replicas.remove(replica) && replicas.isEmpty()) {
      open.remove(replica.blockId);
    }
  }

  /** A fault destroys a replica. */
  void disturb(long blockId) {
    disturbed.add(blockId);
  }

  /** Whether a fault has ever destroyed a replica of the block. */
  boolean wasDisturbed(long blockId) {
    return disturbed.contains(blockId);
  }

  void changed(long blockId) {
    changed.add(blockId);
  }

  /** The replicas of a block that are not finalized. */
  List<SimOpenReplica> open(long blockId) {
    return open.getOrDefault(blockId, List.of());
  }

  /** All replicas that are not finalized. */
  List<SimOpenReplica> open() {
    return open.values().stream().flatMap(List::stream).toList();
  }

  /** The readable replicas of a block. */
  List<SimReplica> of(long blockId) {
    return readable.getOrDefault(blockId, List.of());
  }

  /** The ids of all blocks with a readable replica. */
  Set<Long> blockIds() {
    return readable.keySet();
  }

  Set<SimReplica> corrupt() {
    return corrupt;
  }

  /** The blocks whose replicas changed since the last call. */
  Set<Long> takeChanged() {
    Set<Long> taken = new TreeSet<>(changed);
    changed.clear();
    return taken;
  }
}
