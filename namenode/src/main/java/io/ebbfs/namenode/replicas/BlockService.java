package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/**
 * The replicas of blocks: targets for new replicas, locations of live replicas, deletion of
 * replicas that nobody needs. It does not know which blocks form a file. Thread-safe.
 *
 * <p>Methods with a transaction read and write in it and have no other effect. The caller holds the
 * lock that protects the rows of the owner (see {@code Tables}).
 */
public interface BlockService {
  /** A disk chosen for a replica. */
  record Target(ClusterView.Server server, ClusterView.Disk disk) {}

  /** A block that needs targets. The machine of the writer is preferred for the first replica. */
  record WriteRequest(
      String path,
      int replication,
      long blockSizeBytes,
      String clientMachine,
      Set<String> excludedServerUuids,
      Set<String> chosenStorageUuids,
      WriterWishes wishes,
      TypeWish types) {
    /** On any disks. */
    public WriteRequest(
        String path,
        int replication,
        long blockSizeBytes,
        String clientMachine,
        Set<String> excludedServerUuids,
        Set<String> chosenStorageUuids,
        WriterWishes wishes) {
      this(
          path,
          replication,
          blockSizeBytes,
          clientMachine,
          excludedServerUuids,
          chosenStorageUuids,
          wishes,
          TypeWish.ANY);
    }

    public WriteRequest(
        String path,
        int replication,
        long blockSizeBytes,
        String clientMachine,
        Set<String> excludedServerUuids,
        Set<String> chosenStorageUuids) {
      this(
          path,
          replication,
          blockSizeBytes,
          clientMachine,
          excludedServerUuids,
          chosenStorageUuids,
          WriterWishes.NONE);
    }

    /** The same on disks of these types. */
    public WriteRequest on(TypeWish wish) {
      return new WriteRequest(
          path,
          replication,
          blockSizeBytes,
          clientMachine,
          excludedServerUuids,
          chosenStorageUuids,
          wishes,
          wish);
    }
  }

  /**
   * A replica that its server is to delete.
   *
   * @param ofGroup whether the block was one of a block group
   */
  record Invalidation(
      String storageUuid, long blockId, long generationStamp, long lengthBytes, boolean ofGroup) {
    public Invalidation(String storageUuid, long blockId, long generationStamp, long lengthBytes) {
      this(storageUuid, blockId, generationStamp, lengthBytes, false);
    }

    /** The same, for a block that is known. */
    Invalidation of(BlockRow block) {
      return new Invalidation(
          storageUuid, blockId, generationStamp, lengthBytes, block.hasGroupFileId());
    }
  }

  /**
   * Chooses disks for new replicas: on different servers, and on no server of a disk that was
   * already chosen. Returns at least one disk, and fewer than asked for if the cluster has no more.
   *
   * @throws IOException if no server has a place; the message is that of HDFS and names the reason
   *     for each server
   */
  List<Target> chooseTargets(WriteRequest request) throws IOException;

  /** Whether some disks are not of type DISK: only then do storage policies say where blocks go. */
  default boolean hasTypedDisks() {
    return false;
  }

  /**
   * Takes back targets to which nothing will be written: their disks expect the replicas no more.
   */
  void giveBack(List<Target> targets);

  /**
   * Locates a block for a client. The answer lists live replicas, nearest first. A member of a
   * stripe also gets proxies: servers that decode the block. If the member has no live replica, the
   * proxies that hold sources of the decoding come first. A block under construction has the
   * servers of its pipeline instead.
   *
   * @param offsetBytes the offset of the block in its file
   */
  BlockPlaces places(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String clientMachine)
      throws IOException;

  /** The same for Hadoop's classes. */
  LocatedBlock located(BlockPlaces where);

  /** {@link #places} for Hadoop's classes. */
  default LocatedBlock locate(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String clientMachine)
      throws IOException {
    return located(places(transaction, ownerId, block, offsetBytes, clientMachine));
  }

  /** What is known of the replicas of a finished block. */
  BlockHealth health(Transaction transaction, long ownerId, BlockRow block) throws IOException;

  /** The number of replicas that are finalized, of the block's generation and on live disks. */
  int liveReplicas(Transaction transaction, long ownerId, BlockRow block) throws IOException;

  /**
   * Completes once the block has a live replica, or the time is over, whatever comes first. Called
   * outside of transactions. The wait saves the client a second call of complete().
   */
  CompletableFuture<Void> firstReplica(long ownerId, BlockRow block, long timeoutMillis)
      throws IOException;

  /**
   * Deletes the rows of blocks (block, owner, replicas). The caller hands the result to {@link
   * #invalidate} after the commit. If the process dies before that, the next reports of the servers
   * lead to the same deletions.
   */
  List<Invalidation> release(Transaction transaction, long ownerId, List<Long> indices)
      throws IOException;

  /** Sets the replication of a block. Excess replicas are deleted, missing replicas are ordered. */
  List<Invalidation> setReplication(
      Transaction transaction, long ownerId, long index, int replication) throws IOException;

  /**
   * Keeps one replica of a block and deletes all others. Encoding does this to each new member.
   *
   * @param keepStorageUuid the disk of the replica that stays
   */
  List<Invalidation> keepOnly(
      Transaction transaction, long ownerId, BlockRow block, String keepStorageUuid)
      throws IOException;

  /**
   * Has the next full reports compare the replicas of a block with all rows. To be called in the
   * transaction that opens a complete block again, to append to the block or to cut it: a replica
   * on a server that is away becomes stale. The caller holds the row lock of the owner exclusively.
   */
  void reopened(Transaction transaction, long ownerId, long blockId) throws IOException;

  /**
   * Marks a replica as corrupt before any report names it, because an attempt that ended without a
   * commit may have written it. A replica that has a row already is not changed. The caller holds
   * the lock of the owner.
   */
  void distrust(
      Transaction transaction, long ownerId, long blockId, long generationStamp, String storageUuid)
      throws IOException;

  /**
   * Orders servers to delete replicas. The queue is bounded: a dropped order is given again when a
   * report names the replica.
   */
  void invalidate(List<Invalidation> invalidations);

  /**
   * Marks a replica as corrupt that its own server has read and found bad. The mark is taken back
   * if the server reads the replica again and finds it good.
   */
  void reportBad(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException;

  /** Marks a replica as corrupt for good: it fits its own checksums, but its bytes are wrong. */
  void reportWrongBytes(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException;

  /**
   * Notes that somebody else than its own server takes a replica for bad or missing. The server is
   * asked to read the replica, and its answer decides.
   */
  void suspect(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException;

  /** Takes the finding of a raid-node. */
  default void report(BadBlockProto bad) throws IOException {
    long blockId = bad.getBlock().getBlockId();
    long generationStamp = bad.getBlock().getGenerationStamp();
    String storageUuid = bad.getLocation().getStorageUuid();
    if (!bad.hasHealth()) {
      reportWrongBytes(blockId, generationStamp, storageUuid, bad.getReason());
    } else if (bad.getHealth() == BlockHealthProto.BLOCK_CORRUPT) {
      reportBad(blockId, generationStamp, storageUuid, bad.getReason());
    } else {
      suspect(blockId, generationStamp, storageUuid, bad.getReason());
    }
  }

  /**
   * Why the holders of an open block cannot be judged now; empty if they can. During safe mode
   * servers are awaited. A server that has not sent a full report since it registered may not know
   * its disks yet, and "no replica" from such a server means nothing.
   *
   * @param storageUuids the disks that may hold a replica
   */
  Optional<String> whyHoldersAreUnknown(Collection<String> storageUuids);

  /** Names a disk that is out of service and may come back; empty if there is none. */
  Optional<String> whyHoldersAreAway(Collection<String> storageUuids);

  /** As of {@link GroupHolders#whyReadable}. */
  Optional<String> whyReadable(GroupHolders holders, BlockRow group);

  /**
   * Orders the recovery of the last block of a file whose writer is gone, or which is truncated
   * (DNA_RECOVERBLOCK). Orders nothing while {@link #whyHoldersAreUnknown} has a reason; the caller
   * repeats the call.
   *
   * @return whether it has ordered the recovery
   */
  boolean recover(long ownerId, BlockRow block, long newGenerationStamp) throws IOException;

  /**
   * A block that has no live replica, as far as it is known.
   *
   * @param fileId its file; empty if the block has a replica again, or is deleted
   */
  record MissingBlock(long blockId, OptionalLong fileId) {}

  /**
   * The next blocks in no stripe that are known to have no live replica, in the order of their ids.
   *
   * @param blockId the last block of the page before; 0 for the first page
   */
  List<MissingBlock> missingAfter(long blockId, int most) throws IOException;

  /** Those of some open files of which a block is written to a server that is drained. */
  Set<Long> writtenToLeavingServers(List<Long> fileIds) throws IOException;
}
