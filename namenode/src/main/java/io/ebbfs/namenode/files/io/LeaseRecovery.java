package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.PendingSync;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.time.Clock;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes files whose writer is gone. If the last block is incomplete, a block recovery first brings
 * its replicas to one length. Thread-safe.
 */
public final class LeaseRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRecovery.class);

  private final MetadataStore store;
  private final BlockService blocks;
  private final LeaseManager leases;
  private final IdGenerator generationStamps;
  private final Clock clock;
  private final FileSettings settings;

  public LeaseRecovery(
      MetadataStore store,
      BlockService blocks,
      LeaseManager leases,
      IdGenerator generationStamps,
      Clock clock,
      FileSettings settings) {
    this.store = store;
    this.blocks = blocks;
    this.leases = leases;
    this.generationStamps = generationStamps;
    this.clock = clock;
    this.settings = settings;
  }

  /**
   * Takes a file over for another client. That is allowed once the writer has been silent for the
   * soft limit and the last block is recovered. Returns if the file is closed.
   *
   * @throws AlreadyBeingCreatedException if the writer's lease has not expired
   * @throws RecoveryInProgressException if the recovery has not ended; the client tries again later
   */
  void takeOver(Inode file, String src, String clientName, String call) throws IOException {
    if (!file.isUnderConstruction()) {
      return;
    }
    UnderConstructionProto writer = file.row().getUnderConstruction();
    String holder = writer.getClientName();
    if (holder.equals(clientName)) {
      throw beingCreated(src, clientName, call, "the same client has it open already");
    }
    if (holder.equals(LeaseManager.RECOVERY_HOLDER)) {
      throw inProgress(src);
    }
    if (!leases.isPastSoftLimit(holder, openedMillis(file, holder))) {
      throw beingCreated(
          src,
          clientName,
          call,
          "this file lease is currently owned by " + holder + " on " + writer.getClientMachine());
    }
    if (!release(file.id())) {
      throw inProgress(src);
    }
  }

  private long openedMillis(Inode file, String holder) throws IOException {
    return store
        .transact(
            file.id(),
            Durability.RELAXED,
            transaction -> LeaseRows.sinceMillis(transaction, holder, file.id()))
        .orElse(0L);
  }

  private static AlreadyBeingCreatedException beingCreated(
      String src, String clientName, String call, String why) {
    return new AlreadyBeingCreatedException(
        "Failed to %s %s for %s because %s".formatted(call, src, clientName, why));
  }

  private static RecoveryInProgressException inProgress(String src) {
    return new RecoveryInProgressException(
        "Lease recovery of " + src + " is in progress. Try again later.");
  }

  /** As {@link #release}, but does not repeat a recovery that began a short while ago. */
  public boolean releaseAgain(long fileId) throws IOException {
    boolean running =
        store.transact(
            fileId,
            Durability.RELAXED,
            transaction ->
                LeaseRows.sinceMillis(transaction, LeaseManager.RECOVERY_HOLDER, fileId)
                    .filter(this::isRecent)
                    .isPresent());
    return !running && release(fileId);
  }

  /** A time in the future was written before the time of day was set back: it is not recent. */
  private boolean isRecent(long sinceMillis) {
    long ago = clock.millis() - sinceMillis;
    return ago >= 0 && ago < settings.recoveryRetryMillis();
  }

  /**
   * The decision about a file, and the work that is left after its transaction.
   *
   * @param takenStamp a stamp of the block that is not below the recovery's: then nothing is
   *     decided
   */
  private record Decision(
      boolean closed, BlockRow toRecover, List<Invalidation> gone, long takenStamp) {
    private Decision(boolean closed, BlockRow toRecover, List<Invalidation> gone) {
      this(closed, toRecover, gone, 0);
    }
  }

  /**
   * Closes a file if its last block is complete; else starts the recovery of that block.
   *
   * @return whether the file is closed
   */
  public boolean release(long fileId) throws IOException {
    NonBlocking.beforeWait();
    long stamp = generationStamps.next();
    Decision decision = decide(fileId, stamp);
    while (decision.takenStamp() != 0) {
      stamp = generationStamps.nextAbove(decision.takenStamp());
      decision = decide(fileId, stamp);
    }
    blocks.invalidate(decision.gone());
    if (decision.toRecover() != null) {
      LOG.info(
          "Recovering block {} of file {}, because its writer is gone",
          decision.toRecover().getBlockId(),
          fileId);
      blocks.recover(fileId, decision.toRecover(), stamp);
    }
    return decision.closed();
  }

  /** Chunk servers change their replicas, so the disk has the decision before they hear of it. */
  private Decision decide(long fileId, long recoveryStamp) throws IOException {
    return PendingSync.outside(
        () ->
            OptimisticTransactions.transact(
                store, fileId, transaction -> decide(transaction, fileId, recoveryStamp)));
  }

  private Decision decide(Transaction transaction, long fileId, long recoveryStamp)
      throws IOException {
    FileBlocks file =
        new FileBlocks(transaction, blocks, OpenFileLookup.lock(transaction, "a file", fileId));
    if (!file.file().isUnderConstruction()) {
      return new Decision(true, null, List.of());
    }
    Optional<BlockRow> last = file.fromEnd(0);
    if (last.isPresent() && !FileBlocks.isCommitted(last.get())) {
      boolean neverWritten =
          last.get().getPipelineStorageUuidsCount() == 0 && last.get().getLengthBytes() == 0;
      return neverWritten ? dropLast(file) : startRecovery(transaction, file, recoveryStamp);
    }
    if (!file.completeIfReported(1) || !file.completeIfReported(0)) {
      return new Decision(false, null, List.of());
    }
    file.close(clock.millis());
    return new Decision(true, null, List.of());
  }

  private Decision dropLast(FileBlocks file) throws IOException {
    List<Invalidation> gone = file.removeLast();
    file.close(clock.millis());
    return new Decision(true, null, gone);
  }

  private Decision startRecovery(Transaction transaction, FileBlocks file, long recoveryStamp)
      throws IOException {
    BlockRow last = file.fromEnd(0).orElseThrow();
    long taken = FileBlocks.greatestStamp(last);
    if (recoveryStamp <= taken) {
      return new Decision(false, null, List.of(), taken);
    }
    BlockRow recovering =
        last.toBuilder()
            .setState(BlockStateProto.RECOVERING)
            .setRecoveryGenerationStamp(recoveryStamp)
            .build();
    file.replaceLast(recovering);
    UnderConstructionProto writer = file.file().row().getUnderConstruction();
    LeaseRows.remove(transaction, writer.getClientName(), file.file().id());
    LeaseRows.add(transaction, LeaseManager.RECOVERY_HOLDER, file.file().id(), clock.millis());
    file.put(
        file.file().row().toBuilder()
            .setUnderConstruction(writer.toBuilder().setClientName(LeaseManager.RECOVERY_HOLDER))
            .build());
    return new Decision(false, recovering, List.of());
  }

  /**
   * Applies the result of a block recovery, from the chunk server that led it.
   *
   * @param generationStamp the stamp that {@link #release} gave to the recovery
   * @param delete whether the block is removed, because no replica has any bytes
   * @param storageUuids the disks of the recovered replicas
   */
  public void commitBlockSynchronization(
      long blockId,
      long generationStamp,
      long lengthBytes,
      boolean closeFile,
      boolean delete,
      List<String> storageUuids)
      throws IOException {
    List<Invalidation> gone =
        OptimisticTransactions.transact(
            store,
            blockId,
            transaction -> {
              Optional<Inode> owner = OpenFileLookup.lockOwner(transaction, blockId);
              if (owner.isEmpty()) {
                return List.of(); // deleted meanwhile, or this is a repetition
              }
              FileBlocks file = new FileBlocks(transaction, blocks, owner.get());
              refuseEarly(transaction, file, blockId, delete ? 0 : lengthBytes, storageUuids);
              return synchronize(
                  file, blockId, generationStamp, lengthBytes, closeFile, delete, storageUuids);
            });
    blocks.invalidate(gone);
  }

  /**
   * Refuses a result that leaves out a holder of which nothing is known yet, or that is shorter
   * than what the client had synced while a holder is out of service. The file stays open, and
   * {@link LeaseMonitor} has the recovery repeated.
   */
  private void refuseEarly(
      Transaction transaction,
      FileBlocks file,
      long blockId,
      long lengthBytes,
      List<String> storageUuids)
      throws IOException {
    Optional<BlockRow> last = file.fromEnd(0);
    if (last.isEmpty()
        || last.get().getBlockId() != blockId
        || FileBlocks.isCommitted(last.get())) {
      return;
    }
    Set<String> others = new LinkedHashSet<>(last.get().getPipelineStorageUuidsList());
    ReplicaRows.of(transaction, file.file().id(), blockId)
        .forEach(replica -> others.add(replica.storageUuid()));
    storageUuids.forEach(others::remove);
    Optional<String> unknown = blocks.whyHoldersAreUnknown(others);
    if (unknown.isEmpty() && lengthBytes < last.get().getLengthBytes()) {
      unknown = blocks.whyHoldersAreAway(others);
    }
    if (unknown.isPresent()) {
      throw new IOException(
          "block %d of file %d is not closed with %d bytes now, %s: its recovery is repeated"
              .formatted(blockId, file.file().id(), lengthBytes, unknown.get()));
    }
  }

  private List<Invalidation> synchronize(
      FileBlocks file,
      long blockId,
      long generationStamp,
      long lengthBytes,
      boolean closeFile,
      boolean delete,
      List<String> storageUuids)
      throws IOException {
    BlockRow last = file.fromEnd(0).orElseThrow();
    if (last.getBlockId() != blockId || FileBlocks.isCommitted(last)) {
      return List.of(); // a repetition: this recovery has been committed
    }
    if (last.getRecoveryGenerationStamp() != generationStamp) {
      throw new IOException(
          "The recovery id %d does not match current recovery id %d for block blk_%d"
              .formatted(generationStamp, last.getRecoveryGenerationStamp(), blockId));
    }
    List<Invalidation> gone = List.of();
    if (delete) {
      gone = file.removeLast();
    } else {
      file.replaceLast(
          last.toBuilder()
              .setGenerationStamp(generationStamp)
              .setLengthBytes(lengthBytes)
              .setState(BlockStateProto.COMMITTED)
              .clearRecoveryGenerationStamp()
              .clearPipelineStorageUuids()
              .addAllPipelineStorageUuids(storageUuids)
              .build());
      file.completeIfReported(0);
    }
    if (closeFile) {
      file.close(clock.millis());
    }
    return gone;
  }
}
