package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.verify.simulator.SimReplicaMap.SimReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks that a cluster is at rest: no block is lost or superfluous, and no transition is active.
 */
final class RestCheck {
  private final SimCluster cluster;
  private final MetadataMirror rows;
  private final SimReplicaMap replicas;
  private final DecodeCheck decoding;
  private final AcknowledgedFiles acknowledged;

  RestCheck(
      SimCluster cluster,
      MetadataMirror rows,
      DecodeCheck decoding,
      AcknowledgedFiles acknowledged) {
    this.acknowledged = acknowledged;
    this.cluster = cluster;
    this.rows = rows;
    this.replicas = cluster.replicas();
    this.decoding = decoding;
  }

  /** Whether any transition is planned or running. */
  boolean anyActive() {
    return rows.transitions.values().stream()
        .anyMatch(row -> TransitionIndex.isActive(row.getState()));
  }

  /** Everything that keeps the cluster from being at rest, for people; empty at rest. */
  List<String> unfinished() {
    List<String> unfinished = new ArrayList<>();
    rows.transitions
        .values()
        .forEach(
            row -> {
              if (rows.isActive(row.getId())) {
                unfinished.add(
                    "transition %d %s is %s: %s"
                        .formatted(row.getId(), row.getKind(), row.getState(), row.getFailure()));
              }
            });
    for (StripeRow stripe : rows.stripes.values()) {
      Set<Integer> lost = decoding.lost(stripe, DecodeCheck.ReplicaFilter.ALL);
      if (!lost.isEmpty()) {
        unfinished.add("stripe %d lacks %s".formatted(stripe.getId(), lost));
      }
    }
    Set<Long> stayOpen = new TreeSet<>();
    for (BlockRow block : rows.blocks.values()) {
      if (isGoneUnpromised(block)) {
        stayOpen.add(rows.keyOf(block.getBlockId()).partition());
        continue;
      }
      int found = replicas.of(block.getBlockId()).size();
      int wanted = block.hasStripeId() ? 1 : block.getReplication();
      if (found != wanted) {
        unfinished.add(
            "block %d, %s, has %d replicas of %d: %s"
                .formatted(
                    block.getBlockId(),
                    block.getState(),
                    found,
                    wanted,
                    replicas.of(block.getBlockId())));
      }
    }
    for (long id : replicas.blockIds()) {
      if (rows.keyOf(id) == null) {
        unfinished.add("block " + id + " is on a disk and belongs to nothing");
      }
    }
    rows.openFiles
        .values()
        .forEach(
            row -> {
              if (!stayOpen.contains(row.getId())) {
                unfinished.add("file " + row.getId() + " is open: " + row.getUnderConstruction());
              }
            });
    replicas.open().forEach(replica -> unfinished.add("replica " + replica + " is not finalized"));
    replicas.corrupt().forEach(c -> unfinished.add("corrupt replica " + c + " is still there"));
    replicaRowsAgree(unfinished);
    return unfinished;
  }

  /**
   * Whether a block was being written when all disks of its pipeline were lost, before its writer
   * was promised a byte. As in HDFS, its file stays open: a disk may come back with bytes.
   */
  private boolean isGoneUnpromised(BlockRow block) {
    return block.getState() == BlockStateProto.RECOVERING
        && acknowledged.fileOf(block.getBlockId()) == null
        && replicas.of(block.getBlockId()).isEmpty()
        && replicas.open(block.getBlockId()).isEmpty()
        && block.getPipelineStorageUuidsList().stream().noneMatch(this::isThere);
  }

  private boolean isThere(String storageUuid) {
    return cluster.servers().stream()
        .flatMap(server -> server.disks().stream())
        .anyMatch(disk -> disk.uuid.equals(storageUuid) && !disk.hasFailed());
  }

  private void replicaRowsAgree(List<String> unfinished) {
    rows.replicas.forEach(
        (key, row) -> {
          long id = key.firstLong();
          String storage = Tables.replicaStorage(key);
          if (cluster.server(replicas.serverOf(storage)) == null) {
            return; // The namenode keeps the rows of a server that has left, since it may return.
          }
          List<SimReplica> there =
              replicas.of(id).stream().filter(c -> c.disk().uuid.equals(storage)).toList();
          if (there.isEmpty()) {
            unfinished.add("the row of replica %d@%s has no replica".formatted(id, storage));
          } else if (rows.replicaRows(id, storage) != 1
              || !there.get(0).block().is(row.getGenerationStamp(), row.getLengthBytes())) {
            unfinished.add(
                "replica %s is %s of %d bytes and has %d rows"
                    .formatted(
                        there,
                        row.getState(),
                        row.getLengthBytes(),
                        rows.replicaRows(id, storage)));
          }
        });
    for (long id : replicas.blockIds()) {
      for (SimReplica replica : replicas.of(id)) {
        if (rows.replicaRows(id, replica.disk().uuid) == 0) {
          unfinished.add("replica " + replica + " has no row");
        }
      }
    }
  }
}
