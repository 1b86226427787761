package io.ebbfs.namespace.block;

import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/**
 * Replicas of blocks: where new ones go, where they are, when they are to go. What files consist of
 * is not known here. Thread-safe.
 *
 * <p>Methods with a transaction read and write in it and have no other effect; the caller holds the
 * lock that protects the owner's rows (see {@code Tables}).
 */
public interface BlockService {
  /** A disk chosen for a replica. */
  record Target(ClusterView.Server server, ClusterView.Disk disk) {}

  /** What has to be placed. The machine of the writer is preferred for the first replica. */
  record WriteRequest(
      String path,
      int replication,
      long blockSizeBytes,
      String clientMachine,
      Set<String> excludedServerUuids,
      Set<String> chosenStorageUuids) {}

  /** A replica that no row knows any more, to be deleted by its server. */
  record Invalidation(String storageUuid, long blockId, long generationStamp, long lengthBytes) {}

  /**
   * Disks for new replicas, on different servers, besides those already chosen; at least one, fewer
   * than asked if the cluster has no more. Places replicas so that one of each block can stay where
   * it is as a member of a stripe.
   *
   * @throws IOException in the words of HDFS if there is no place at all, with the reason by server
   */
  List<Target> chooseTargets(WriteRequest request) throws IOException;

  /**
   * The block as a client sees it: live replicas first, nearest first; for a member of a stripe
   * then proxies that can serve it by decoding, if nothing else is left of it those first that hold
   * a part of what it takes; for a block under construction its pipeline.
   *
   * @param offsetBytes of the block in its file
   */
  LocatedBlock locate(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String clientMachine)
      throws IOException;

  /** Replicas that are finalized, not corrupt, of the block's generation and on live disks. */
  int liveReplicas(Transaction transaction, long ownerId, BlockRow block) throws IOException;

  /**
   * Waits until the block has that many reported replicas, or the time is over. Called outside of
   * transactions; it saves a client's complete() the round of retries.
   *
   * @return whether it has them
   */
  boolean awaitReplicas(long ownerId, BlockRow block, int replicas, long timeoutMillis)
      throws IOException;

  /**
   * Removes the rows of blocks (block, owner, replicas). The result is handed to {@link
   * #invalidate} after the commit; if the process dies in between, the servers' next reports bring
   * the same about.
   */
  List<Invalidation> release(Transaction transaction, long ownerId, List<Long> indices)
      throws IOException;

  /** Sets the wanted replication of a block; surplus replicas go, missing ones come later. */
  List<Invalidation> setReplication(
      Transaction transaction, long ownerId, long index, int replication) throws IOException;

  /**
   * Keeps one replica of a block and gives up all others: what encoding does to its members.
   *
   * @param keepStorageUuid where the replica stays
   */
  List<Invalidation> keepOnly(
      Transaction transaction, long ownerId, BlockRow block, String keepStorageUuid)
      throws IOException;

  /**
   * Marks a replica that an attempt without a commit may have written as not to be trusted,
   * whenever it is reported; what is known of a replica there already stays. The caller holds the
   * owner's lock.
   */
  void distrust(
      Transaction transaction, long ownerId, long blockId, long generationStamp, String storageUuid)
      throws IOException;

  /**
   * Orders servers to delete replicas. Bounded in memory; what is dropped comes back by reports.
   */
  void invalidate(List<Invalidation> invalidations);

  /** Tells that a replica is corrupt or gone, from a client or a chunk server. */
  void reportBad(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException;

  /** Has a block of a file recovered after its writer went away (DNA_RECOVERBLOCK). */
  void recover(long ownerId, BlockRow block, long newGenerationStamp) throws IOException;
}
