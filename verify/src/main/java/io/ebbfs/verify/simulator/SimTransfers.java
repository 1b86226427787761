package io.ebbfs.verify.simulator;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The writes of clients to one simulated chunk server: what arrives through a pipeline, and what
 * happens to a replica whose write broke off. It follows the chunk server's replica_recovery.cc.
 * Every method that changes a replica says whether it could. Used by one thread.
 */
final class SimTransfers {
  /** What a server says of its replica when a block recovery begins. The order is by trust. */
  enum Kind {
    FINALIZED,
    BEING_WRITTEN,
    WAITING
  }

  /** A replica that may take part in a block recovery. */
  record Candidate(Kind kind, long generationStamp, long lengthBytes) {}

  private final SimServer server;
  // The block recovery that holds a replica, by block id.
  private final Map<Long, Long> recoveries = new HashMap<>();

  SimTransfers(SimServer server) {
    this.server = server;
  }

  /** The process dies: its half-written replicas are abandoned. */
  void crash() {
    recoveries.clear();
    server.disks().forEach(disk -> disk.openReplicas().forEach(SimOpenReplica::abandon));
  }

  private SimOpenReplica open(long blockId) {
    for (SimDisk disk : server.disks()) {
      SimOpenReplica replica = disk.open(blockId);
      if (replica != null) {
        return replica;
      }
    }
    return null;
  }

  private SimDisk diskOf(long blockId) {
    return server.disks().stream().filter(d -> d.get(blockId) != null).findFirst().orElse(null);
  }

  // ---- the pipeline -----------------------------------------------------------------------------

  /** A client begins a block. */
  boolean create(String storageUuid, long blockId, long generationStamp) {
    SimDisk disk = server.disk(storageUuid);
    if (!server.answers() || disk == null || disk.hasFailed() || server.holds(blockId)) {
      return false;
    }
    disk.add(new SimOpenReplica(disk, blockId, generationStamp, 0));
    return true;
  }

  /** A client opens a finalized replica to append to it, under a new generation stamp. */
  boolean reopen(long blockId, long oldStamp, long newStamp, long lengthBytes) {
    SimDisk disk = diskOf(blockId);
    SimBlock block = disk == null ? null : disk.get(blockId);
    if (!server.answers()
        || block == null
        || block.corrupt()
        || recoveries.containsKey(blockId)
        || !block.is(oldStamp, lengthBytes)) {
      return false;
    }
    SimOpenReplica replica = new SimOpenReplica(disk, blockId, newStamp, lengthBytes);
    replica.noteSynced(disk.isSynced(blockId) ? lengthBytes : 0);
    disk.remove(blockId);
    disk.add(replica);
    return true;
  }

  private boolean isWritable(SimOpenReplica replica) {
    return server.answers()
        && replica != null
        && !replica.isAbandoned()
        && !recoveries.containsKey(replica.blockId);
  }

  /** Bytes arrive, up to a length of the replica. */
  boolean receive(long blockId, long generationStamp, long lengthBytes) {
    SimOpenReplica replica = open(blockId);
    if (!isWritable(replica)
        || replica.generationStamp() != generationStamp
        || replica.disk.free() < lengthBytes - replica.lengthBytes()) {
      return false;
    }
    replica.disk.resize(replica, lengthBytes);
    return true;
  }

  /** The last packet has arrived: the replica is finalized, and the server reports it. */
  boolean finish(long blockId, long generationStamp, long lengthBytes) {
    SimOpenReplica replica = open(blockId);
    if (!isWritable(replica)
        || replica.generationStamp() != generationStamp
        || replica.lengthBytes() != lengthBytes) {
      return false;
    }
    finish(replica);
    return true;
  }

  private void finish(SimOpenReplica replica) {
    replica.disk.remove(replica);
    server.store(replica.disk, replica.finalized());
    if (replica.isDamaged()) {
      server.corrupt(replica.disk, replica.blockId);
    }
  }

  /** A client rebuilds its pipeline on the replica, cut to what was acknowledged. */
  boolean recoverWriter(long blockId, long oldStamp, long newStamp, long acknowledgedBytes) {
    SimOpenReplica replica = open(blockId);
    if (!isWritable(replica)
        || replica.generationStamp() < oldStamp
        || replica.generationStamp() > newStamp
        || replica.lengthBytes() < acknowledgedBytes) {
      return false;
    }
    cut(replica, acknowledgedBytes);
    replica.stamp(newStamp);
    return true;
  }

  private void cut(SimOpenReplica replica, long lengthBytes) {
    if (replica.lengthBytes() > lengthBytes && server.keepsTails()) {
      replica.damage();
    }
    replica.disk.resize(replica, lengthBytes);
  }

  /** A client closes a block again whose end not every server has acknowledged. */
  boolean recoverClose(long blockId, long oldStamp, long newStamp, long lengthBytes) {
    SimDisk disk = diskOf(blockId);
    if (disk != null
        && server.answers()
        && !recoveries.containsKey(blockId)
        && !disk.get(blockId).corrupt()
        && disk.get(blockId).lengthBytes() == lengthBytes
        && disk.get(blockId).generationStamp() >= oldStamp
        && disk.get(blockId).generationStamp() <= newStamp) {
      disk.remove(blockId);
      server.store(disk, new SimBlock(blockId, newStamp, lengthBytes, BlockContent.of(blockId)));
      return true;
    }
    return recoverWriter(blockId, oldStamp, newStamp, lengthBytes)
        && finish(blockId, newStamp, lengthBytes);
  }

  /**
   * An older replica that no client has finished gives way to a new block, and no news tells the
   * namenode. See the chunk server's replica_creation.cc.
   *
   * @return false if a replica stays that is not finalized
   */
  boolean makeRoomFor(long blockId, long generationStamp) {
    SimOpenReplica replica = open(blockId);
    if (replica == null) {
      return true;
    }
    if (replica.generationStamp() >= generationStamp || recoveries.containsKey(blockId)) {
      return false;
    }
    replica.disk.remove(replica);
    return true;
  }

  // ---- block recovery ---------------------------------------------------------------------------

  /**
   * Stops the writer and describes the replica.
   *
   * @return empty if the server has no replica of the block
   * @throws IllegalStateException if the replica belongs to a later recovery or generation
   */
  Optional<Candidate> startRecovery(long blockId, long generationStamp, long recoveryId) {
    SimOpenReplica replica = open(blockId);
    SimDisk disk = diskOf(blockId);
    if (replica == null && (disk == null || disk.get(blockId).corrupt())) {
      return Optional.empty();
    }
    long stamp = replica != null ? replica.generationStamp() : disk.get(blockId).generationStamp();
    if (stamp < generationStamp
        || stamp >= recoveryId
        || recoveries.getOrDefault(blockId, 0L) > recoveryId) {
      throw new IllegalStateException(
          "block %d with stamp %d cannot be recovered by %d".formatted(blockId, stamp, recoveryId));
    }
    recoveries.put(blockId, recoveryId);
    return Optional.of(
        replica == null
            ? new Candidate(Kind.FINALIZED, stamp, disk.get(blockId).lengthBytes())
            : new Candidate(
                replica.isAbandoned() ? Kind.WAITING : Kind.BEING_WRITTEN,
                stamp,
                replica.lengthBytes()));
  }

  /**
   * Cuts the replica to the length that the recovery has chosen, and finalizes it.
   *
   * @return the disk of the replica; empty if the replica does not belong to this recovery any more
   */
  Optional<String> finishRecovery(long blockId, long recoveryId, long lengthBytes) {
    if (!server.answers() || recoveries.getOrDefault(blockId, 0L) != recoveryId) {
      return Optional.empty();
    }
    SimOpenReplica replica = open(blockId);
    SimDisk disk = diskOf(blockId);
    if (replica == null && disk != null && disk.get(blockId).lengthBytes() >= lengthBytes) {
      disk.remove(blockId);
      replica = new SimOpenReplica(disk, blockId, recoveryId, lengthBytes);
      disk.add(replica);
    }
    if (replica == null || replica.lengthBytes() < lengthBytes) {
      return Optional.empty();
    }
    cut(replica, lengthBytes);
    replica.stamp(recoveryId);
    recoveries.remove(blockId);
    finish(replica);
    replica.disk.sync(blockId);
    return Optional.of(replica.disk.uuid);
  }

  /** The replica is deleted by order of the namenode. */
  void forget(long blockId) {
    recoveries.remove(blockId);
  }
}
