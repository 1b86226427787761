package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.IdGenerator;
import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.lease.LeaseRows;
import io.ebbfs.namespace.lease.Leases;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes files whose writers went away, once their last block is agreed upon. Thread-safe. */
public final class LeaseRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRecovery.class);

  private final MetadataStore store;
  private final BlockService blocks;
  private final Leases leases;
  private final IdGenerator generationStamps;
  private final Clock clock;
  private final FileSettings settings;

  public LeaseRecovery(
      MetadataStore store,
      BlockService blocks,
      Leases leases,
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
   * Another client wants a file that may be open: allowed once its writer has been silent for the
   * soft limit, and once the last block is recovered. Returns if the file is closed.
   *
   * @throws AlreadyBeingCreatedException if the writer may still be at work
   * @throws RecoveryInProgressException if the client is to come back later
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
    if (holder.equals(Leases.RECOVERY_HOLDER)) {
      throw inProgress(src);
    }
    if (!leases.isPastSoftLimit(holder)) {
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

  private static AlreadyBeingCreatedException beingCreated(
      String src, String clientName, String call, String why) {
    return new AlreadyBeingCreatedException(
        "Failed to %s %s for %s because %s".formatted(call, src, clientName, why));
  }

  private static RecoveryInProgressException inProgress(String src) {
    return new RecoveryInProgressException(
        "Lease recovery of " + src + " is in progress. Try again later.");
  }

  /** As {@link #release}, but leaves a recovery that is running some time to end. */
  public boolean releaseAgain(long fileId) throws IOException {
    boolean running =
        store.transact(
            fileId,
            Durability.RELAXED,
            transaction ->
                LeaseRows.sinceMillis(transaction, Leases.RECOVERY_HOLDER, fileId)
                    .filter(since -> clock.millis() - since < settings.recoveryRetryMillis())
                    .isPresent());
    return !running && release(fileId);
  }

  /** What is left to do after the transaction that decided about a file. */
  private record Decision(boolean closed, BlockRow toRecover, List<Invalidation> gone) {}

  /**
   * Closes a file if its blocks allow it, else starts the recovery of its last block.
   *
   * @return whether the file is closed
   */
  public boolean release(long fileId) throws IOException {
    long recoveryStamp = generationStamps.next();
    Decision decision =
        Retrying.transact(store, fileId, transaction -> decide(transaction, fileId, recoveryStamp));
    blocks.invalidate(decision.gone());
    if (decision.toRecover() != null) {
      LOG.info(
          "Recovering block {} of file {} whose writer went away",
          decision.toRecover().getBlockId(),
          fileId);
      blocks.recover(fileId, decision.toRecover(), recoveryStamp);
    }
    return decision.closed();
  }

  private Decision decide(Transaction transaction, long fileId, long recoveryStamp)
      throws IOException {
    FileBlocks file =
        new FileBlocks(transaction, blocks, OpenFiles.lock(transaction, "a file", fileId));
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
    BlockRow recovering =
        file.fromEnd(0).orElseThrow().toBuilder()
            .setState(BlockStateProto.RECOVERING)
            .setRecoveryGenerationStamp(recoveryStamp)
            .build();
    file.replaceLast(recovering);
    UnderConstructionProto writer = file.file().row().getUnderConstruction();
    LeaseRows.remove(transaction, writer.getClientName(), file.file().id());
    LeaseRows.add(transaction, Leases.RECOVERY_HOLDER, file.file().id(), clock.millis());
    file.put(
        file.file().row().toBuilder()
            .setUnderConstruction(writer.toBuilder().setClientName(Leases.RECOVERY_HOLDER))
            .build());
    return new Decision(false, recovering, List.of());
  }

  /**
   * The answer of the chunk server that led the recovery of a last block.
   *
   * @param generationStamp the one that {@link #release} gave
   * @param delete whether no replica has a byte of the block
   * @param storageUuids where its replicas are now
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
        Retrying.transact(
            store,
            blockId,
            transaction -> {
              Optional<Inode> owner = OpenFiles.lockOwner(transaction, blockId);
              if (owner.isEmpty()) {
                return List.of(); // deleted meanwhile, or this is a repetition
              }
              FileBlocks file = new FileBlocks(transaction, blocks, owner.get());
              return synchronize(
                  file, blockId, generationStamp, lengthBytes, closeFile, delete, storageUuids);
            });
    blocks.invalidate(gone);
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
