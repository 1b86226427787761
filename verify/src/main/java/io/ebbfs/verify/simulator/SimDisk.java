package io.ebbfs.verify.simulator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.ReplicaState;

/** A disk of a simulated chunk server. */
final class SimDisk {
  final String uuid;
  final String serverUuid;
  private final SimReplicaMap replicas;
  private long capacity;
  private final Map<Long, SimBlock> blocks = new TreeMap<>();
  private final Map<Long, SimOpenReplica> open = new TreeMap<>();
  // Finalized blocks whose bytes are only in the memory of the machine.
  private final Set<Long> unsynced = new TreeSet<>();
  private BlockListAsLongs report;
  private long used;
  private boolean failed;

  SimDisk(String uuid, String serverUuid, SimReplicaMap replicas, long capacity) {
    this.uuid = uuid;
    this.serverUuid = serverUuid;
    this.replicas = replicas;
    this.capacity = capacity;
    replicas.place(this);
  }

  boolean hasFailed() {
    return failed;
  }

  boolean isEmpty() {
    return blocks.isEmpty();
  }

  Collection<SimBlock> blocks() {
    return Collections.unmodifiableCollection(blocks.values());
  }

  Set<Long> blockIds() {
    return Collections.unmodifiableSet(blocks.keySet());
  }

  /** The block, or null. */
  SimBlock get(long blockId) {
    return blocks.get(blockId);
  }

  long used() {
    return used;
  }

  long capacity() {
    return failed ? 0 : capacity;
  }

  /** Bytes that still fit. */
  long free() {
    return failed ? 0 : capacity - used;
  }

  void resize(long newCapacity) {
    capacity = newCapacity;
  }

  void put(SimBlock block) {
    remove(block.blockId());
    blocks.put(block.blockId(), block);
    used += block.lengthBytes();
    replicas.added(this, block);
  }

  /** Stores a block that a crash of the machine may take. */
  void putUnsynced(SimBlock block) {
    put(block);
    unsynced.add(block.blockId());
  }

  /** The bytes of a block are on the disk. */
  void sync(long blockId) {
    unsynced.remove(blockId);
  }

  /** The machine has written everything back. */
  void syncAll() {
    openReplicas().forEach(replica -> replica.noteSynced(replica.lengthBytes()));
    unsynced.clear();
  }

  boolean isSynced(long blockId) {
    return !unsynced.contains(blockId);
  }

  /** The machine crashes: each unsynced replica may be lost, and half-written replicas are cut. */
  void losePower(Random random) {
    for (long id : List.copyOf(unsynced)) {
      if (random.nextBoolean()) {
        replicas.disturb(id);
        remove(id);
      }
    }
    unsynced.clear();
    for (SimOpenReplica replica : openReplicas()) {
      long unsyncedBytes = replica.lengthBytes() - replica.syncedBytes();
      resize(replica, replica.syncedBytes() + random.nextInt((int) unsyncedBytes + 1));
    }
  }

  void remove(long blockId) {
    unsynced.remove(blockId);
    SimBlock old = blocks.remove(blockId);
    report = null;
    if (old != null) {
      used -= old.lengthBytes();
      replicas.removed(this, old);
    }
  }

  void clear() {
    blockIds().forEach(replicas::disturb);
    blockIds().stream().toList().forEach(this::remove);
    openReplicas().forEach(this::remove);
  }

  // ---- replicas that are being written

  List<SimOpenReplica> openReplicas() {
    return List.copyOf(open.values());
  }

  /** The replica of the block that is not finalized, or null. */
  SimOpenReplica open(long blockId) {
    return open.get(blockId);
  }

  void add(SimOpenReplica replica) {
    open.put(replica.blockId, replica);
    used += replica.lengthBytes();
    report = null;
    replicas.opened(replica);
  }

  /** Makes an open replica longer or shorter. */
  void resize(SimOpenReplica replica, long lengthBytes) {
    used += lengthBytes - replica.lengthBytes();
    replica.resize(lengthBytes);
    report = null;
    replicas.changed(replica.blockId);
  }

  void remove(SimOpenReplica replica) {
    if (open.remove(replica.blockId) != null) {
      used -= replica.lengthBytes();
      report = null;
      replicas.closed(replica);
    }
  }

  void fail() {
    clear();
    failed = true;
  }

  /** All blocks in the form of a block report. */
  BlockListAsLongs report() {
    if (report == null && blocks.isEmpty() && open.isEmpty()) {
      report = BlockListAsLongs.EMPTY;
    } else if (report == null) {
      // The older of the two forms needs no buffers: the number of finalized blocks, the number of
      // other blocks, three numbers for each block, an end mark after the finalized blocks, and
      // four numbers for each other block.
      List<Long> numbers = new ArrayList<>(List.of((long) blocks.size(), (long) open.size()));
      for (SimBlock block : blocks.values()) {
        numbers.addAll(List.of(block.blockId(), block.lengthBytes(), block.generationStamp()));
      }
      numbers.addAll(List.of(-1L, -1L, -1L));
      for (SimOpenReplica replica : open.values()) {
        ReplicaState state = replica.isAbandoned() ? ReplicaState.RWR : ReplicaState.RBW;
        numbers.addAll(
            List.of(
                replica.blockId,
                replica.lengthBytes(),
                replica.generationStamp(),
                (long) state.getValue()));
      }
      report = BlockListAsLongs.decodeLongs(numbers);
    }
    return report;
  }
}
