package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.verify.simulator.SimReplicaMap.SimReplica;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Checks whether acknowledged data can be read or decoded from the replicas that truly exist. */
final class DecodeCheck {
  /** Chooses the replicas that are taken into account. */
  interface ReplicaFilter {
    ReplicaFilter ALL = replica -> true;

    boolean counts(SimReplica replica);
  }

  private final MetadataMirror rows;
  private final SimReplicaMap replicas;
  private final AcknowledgedFiles acknowledged;

  DecodeCheck(MetadataMirror rows, SimReplicaMap replicas, AcknowledgedFiles acknowledged) {
    this.rows = rows;
    this.replicas = replicas;
    this.acknowledged = acknowledged;
  }

  /**
   * Whether all acknowledged data decodes without some disks. Replicas that the namenode does not
   * know do not count: it will delete them.
   */
  boolean survives(Set<SimDisk> without) {
    return decodes(
        acknowledged.blocks(), replica -> !without.contains(replica.disk()) && isKnown(replica));
  }

  /**
   * Whether all promised data decodes after a power failure of some servers. What was not synced to
   * their disks may be gone; the members of stripes were synced before they were published.
   */
  boolean survivesPowerFailure(Set<String> serverUuids) {
    return decodes(
        acknowledged.blocks(),
        replica -> {
          long id = replica.block().blockId();
          BlockRow row = rows.block(id);
          boolean open = replicas.open(id).stream().anyMatch(o -> o.disk == replica.disk());
          return isKnown(replica)
              && (!serverUuids.contains(replica.disk().serverUuid)
                  || !open && (replica.disk().isSynced(id) || row != null && row.hasStripeId()));
        });
  }

  /** Whether the replica has a row, or is in the pipeline of a block that is being written. */
  private boolean isKnown(SimReplica replica) {
    long id = replica.block().blockId();
    BlockRow row = rows.block(id);
    return rows.replicaRows(id, replica.disk().uuid) > 0
        || row != null
            && replica.block().generationStamp() >= row.getGenerationStamp()
            && row.getPipelineStorageUuidsList().contains(replica.disk().uuid);
  }

  /**
   * Whether the namenode believes in a replica of a stripe member that is in truth lost: it has a
   * row and thinks the disk in service. While it believes so, nothing more may be destroyed: the
   * namenode may plan with the lost block, and no code survives more losses than it was made for.
   *
   * @param inService what the namenode believes of a disk
   */
  boolean anyHiddenLoss(Predicate<String> inService) {
    for (StripeRow stripe : rows.stripes.values()) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        Set<String> believed = new TreeSet<>(rows.storagesOf(member.getBlockId()));
        believed.removeIf(inService.negate());
        if (believed.size() > existing(member, believed)) {
          return true;
        }
      }
    }
    return false;
  }

  private long existing(StripeMemberProto member, Set<String> storages) {
    return replicas.of(member.getBlockId()).stream()
        .filter(replica -> storages.contains(replica.disk().uuid))
        .count();
  }

  /** Whether all acknowledged data decodes after the deletion of one replica of a block. */
  boolean survivesDeletion(SimBlock deleted, SimDisk from) {
    Set<Long> concerned = new TreeSet<>(Set.of(deleted.blockId()));
    BlockRow row = rows.block(deleted.blockId());
    if (row != null && rows.stripes.containsKey(row.getStripeId())) {
      rows.stripes
          .get(row.getStripeId())
          .getMembersList()
          .forEach(member -> concerned.add(member.getBlockId()));
    }
    return decodes(concerned, replica -> replica.block() != deleted || replica.disk() != from);
  }

  private boolean decodes(Set<Long> blocks, ReplicaFilter filter) {
    try {
      decode(blocks, filter);
      return true;
    } catch (Violation e) {
      return false;
    }
  }

  /**
   * Decodes those blocks that belong to acknowledged files.
   *
   * @throws Violation if one does not decode
   */
  void decode(Set<Long> blocks, ReplicaFilter filter) {
    Map<Long, Set<Integer>> lostOf = new HashMap<>();
    for (long id : blocks) {
      Long file = acknowledged.fileOf(id);
      if (file != null) {
        decode(file, id, filter, lostOf);
      }
    }
  }

  private void decode(long file, long id, ReplicaFilter filter, Map<Long, Set<Integer>> lostOf) {
    BlockRow block = rows.block(id);
    if (block == null || rows.keyOf(id).partition() != file) {
      throw new Violation("block %d of file %d is not known any more".formatted(id, file));
    }
    for (SimReplica replica : replicas.of(id)) {
      if (filter.counts(replica)
          && acknowledged.isWhole(id, replica.block().lengthBytes())
          && replica.block().content().equals(BlockContent.of(id))) {
        return;
      }
    }
    for (SimOpenReplica replica : replicas.open(id)) {
      if (filter.counts(new SimReplica(replica.disk, replica.finalized()))
          && acknowledged.isWhole(id, replica.lengthBytes())) {
        return;
      }
    }
    if (!block.hasStripeId()) {
      throw new Violation(
          "block %d of file %d has no replica left with the bytes that were promised, but %s and %s"
              .formatted(id, file, replicas.of(id), replicas.open(id)));
    }
    StripeRow stripe = rows.stripes.get(block.getStripeId());
    ErasureCode code = SimCodes.REGISTRY.byName(stripe.getCode());
    Set<Integer> lost = lostOf.computeIfAbsent(stripe.getId(), s -> lost(stripe, filter));
    if (!code.decodes(lost)) {
      throw new Violation(
          "block %d of file %d: stripe %d in %s does not decode without %s"
              .formatted(id, file, stripe.getId(), code, lost));
    }
  }

  /** The positions without a readable replica that counts. */
  Set<Integer> lost(StripeRow stripe, ReplicaFilter filter) {
    Set<Integer> lost = new TreeSet<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      boolean there = false;
      for (SimReplica replica : replicas.of(member.getBlockId())) {
        there |=
            filter.counts(replica)
                && replica.block().is(member.getGenerationStamp(), member.getLengthBytes());
      }
      if (!there) {
        lost.add(member.getPosition());
      }
    }
    return lost;
  }

  /**
   * The stripes that would not decode without some disks, with the places of members; for people.
   */
  List<String> fatalFor(Set<SimDisk> without) {
    List<String> fatal = new ArrayList<>();
    for (StripeRow stripe : rows.stripes.values()) {
      Set<Integer> lost = lost(stripe, replica -> !without.contains(replica.disk()));
      if (!SimCodes.REGISTRY.byName(stripe.getCode()).decodes(lost)) {
        Map<Integer, String> places = new TreeMap<>();
        for (StripeMemberProto member : stripe.getMembersList()) {
          places.put(member.getPosition(), replicas.of(member.getBlockId()) + "");
        }
        fatal.add(stripe.getId() + " in " + stripe.getCode() + " loses " + lost + ": " + places);
      }
    }
    return fatal;
  }
}
