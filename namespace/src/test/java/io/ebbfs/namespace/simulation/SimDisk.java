package io.ebbfs.namespace.simulation;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs.BlockReportReplica;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.ReplicaState;

/** A disk of a simulated chunk server. */
final class SimDisk {
  static final long CAPACITY = 1L << 40;

  final String uuid;
  final String serverUuid;
  private final Copies copies;
  private final Map<Long, SimBlock> blocks = new TreeMap<>();
  private BlockListAsLongs report;
  private long used;
  private boolean failed;

  SimDisk(String uuid, String serverUuid, Copies copies) {
    this.uuid = uuid;
    this.serverUuid = serverUuid;
    this.copies = copies;
    copies.place(this);
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

  void put(SimBlock block) {
    remove(block.blockId());
    blocks.put(block.blockId(), block);
    used += block.lengthBytes();
    copies.added(this, block);
  }

  void remove(long blockId) {
    SimBlock old = blocks.remove(blockId);
    report = null;
    if (old != null) {
      used -= old.lengthBytes();
      copies.removed(this, old);
    }
  }

  void clear() {
    for (long id : blocks.keySet().stream().toList()) {
      remove(id);
    }
  }

  void fail() {
    clear();
    failed = true;
  }

  /** All its blocks, as a block report lists them. */
  BlockListAsLongs report() {
    if (report == null && blocks.isEmpty()) {
      report = BlockListAsLongs.EMPTY;
    } else if (report == null) {
      BlockListAsLongs.Builder list = BlockListAsLongs.builder();
      for (SimBlock block : blocks.values()) {
        BlockReportReplica replica = new BlockReportReplica(block.toBlock());
        replica.setState(ReplicaState.FINALIZED);
        list.add(replica);
      }
      report = list.build();
    }
    return report;
  }
}
