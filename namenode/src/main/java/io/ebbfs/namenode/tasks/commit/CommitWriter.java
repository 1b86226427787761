package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Writes the rows that publish what an attempt has written: one implementation for each group of
 * kinds of transitions. {@link CommitService} takes the locks, calls the writer inside the
 * transaction, and deletes afterwards what is replaced.
 */
interface CommitWriter {
  /** Files and stripes to lock. */
  record Locks(Set<Long> fileIds, Set<Long> stripeIds) {}

  /**
   * What was published.
   *
   * @param gone replicas that no row knows any more
   * @param stripes the stripes that were made or changed
   * @param dataBytes bytes of live data in the published blocks
   * @param code the code of the stripes, for the counters of repairs
   */
  record Written(List<Invalidation> gone, Set<Long> stripes, long dataBytes, String code) {}

  /** The files and stripes that {@link #write} reads and changes. */
  Locks locks(Transaction transaction, TransitionRow row) throws IOException;

  /**
   * Writes the rows. The caller holds the transition's lock and {@link #locks}.
   *
   * @param firstStripeId the first of a run of ids that nobody else uses
   * @throws CommitRefusedException if a row that the attempt relied on has changed; then nothing is
   *     written
   */
  Written write(Transaction transaction, TransitionRow row, long firstStripeId) throws IOException;

  /** Refuses an output that is on a disk out of service, or on a server that is drained by now. */
  static void requireInService(ClusterView cluster, TransitionOutputProto output)
      throws CommitRefusedException {
    if (!cluster.isLive(output.getStorageUuid())) {
      throw new CommitRefusedException(
          "disk %s, to which block %d was written, is out of service"
              .formatted(output.getStorageUuid(), output.getBlockId()));
    }
    requireNotLeaving(cluster, output.getBlockId(), output.getStorageUuid());
  }

  /**
   * Refuses a block whose only replica would be on a server that is drained, or being drained: the
   * walks over its blocks may have passed the block already. The next attempt avoids the server.
   */
  static void requireNotLeaving(ClusterView cluster, long blockId, String storageUuid)
      throws CommitRefusedException {
    if (cluster.isLeaving(storageUuid)) {
      throw new CommitRefusedException(
          "disk %s, on which block %d was to be, belongs to a server that is drained, or being drained, by now"
              .formatted(storageUuid, blockId));
    }
  }
}
