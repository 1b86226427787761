package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockRemover;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.replicas.GroupHolders;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.replicas.StripeService;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.PendingSync;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.IOException;
import java.time.Clock;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.apache.hadoop.hdfs.server.namenode.SafeModeException;
import org.apache.hadoop.ipc.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes files whose writer is gone, and cuts files that are truncated. If the last block is
 * incomplete, or is to become shorter, a block recovery first brings its replicas to one length.
 * Thread-safe.
 */
public final class LeaseRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRecovery.class);

  private final MetadataStore store;
  private final BlockService blocks;
  private final LeaseManager leases;
  private final IdGenerator generationStamps;
  private final Clock clock;
  private final FileSettings settings;
  private final BlockRemover remover;
  private final EncodedBlocks encoded;
  private final TruncationWaits waits;
  private final RecoveryAttempts attempts = new RecoveryAttempts();

  /**
   * @param stripes the stripes with blocks that a truncation removes
   * @param encoded frees the blocks within which files are truncated
   */
  public LeaseRecovery(
      MetadataStore store,
      BlockService blocks,
      StripeService stripes,
      EncodedBlocks encoded,
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
    this.remover = new BlockRemover(blocks, stripes);
    this.encoded = encoded;
    this.waits = new TruncationWaits(clock);
  }

  /** What the truncations wait for that this process has gone on with. */
  public TruncationWaits waits() {
    return waits;
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
    if (holder.equals(clientName)
        || writer.hasTruncatedBy() && writer.getTruncatedBy().equals(clientName)) {
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
    if (!release(file.id(), holder)) {
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

  /**
   * As {@link #release}, for a client that asks again and again: it does not repeat a recovery that
   * began a while ago and may be slow. {@link LeaseMonitor} repeats one that is lost.
   */
  public boolean releaseAgain(long fileId, String holder) throws IOException {
    return !isUnderWay(fileId, RecoveryAttempts.MOST_PATIENCE) && release(fileId, holder);
  }

  /**
   * Whether a recovery of the last block began a short while ago, so that it may still end. The
   * next one makes its result void. After some that did not end, it has more time.
   */
  boolean isUnderWay(long fileId) throws IOException {
    return isUnderWay(fileId, attempts.patience(fileId));
  }

  /** Forgets the recoveries and the waits of a file. The file was closed or deleted. */
  void forget(long fileId) {
    waits.forget(fileId);
    attempts.ended(fileId);
  }

  /** Forgets the files that nobody holds any more. */
  void retain(Set<Long> openFiles) {
    waits.retain(openFiles);
    attempts.retain(openFiles);
  }

  private boolean isUnderWay(long fileId, int patience) throws IOException {
    return store.transact(
        fileId,
        Durability.RELAXED,
        transaction ->
            LeaseRows.sinceMillis(transaction, LeaseManager.RECOVERY_HOLDER, fileId)
                .filter(sinceMillis -> isRecent(sinceMillis, patience))
                .isPresent());
  }

  /** A time in the future was written before the time of day was set back: it is not recent. */
  private boolean isRecent(long sinceMillis, int patience) {
    long ago = clock.millis() - sinceMillis;
    return ago >= 0 && ago < patience * settings.recoveryRetryMillis();
  }

  /** What is left to do about a file after the transaction that decided on it. */
  enum Next {
    /** Nothing: the file is closed. */
    CLOSED,
    /** Nothing now: the last block has no reported replica, or another client has the file. */
    WAIT,
    /** To have the last block recovered. */
    RECOVER,
    /** To get the last block out of its stripe, or out of the transition that holds it. */
    FREE,
    /** To decide again: blocks are left to be removed, or the stamp of the recovery is taken. */
    REPEAT
  }

  /**
   * The decision about a file.
   *
   * @param block the last block, for RECOVER and FREE, and for WAIT if the file is truncated
   * @param takenStamp with REPEAT: a stamp that the next one has to be above
   */
  record Decision(Next next, BlockRow block, List<Invalidation> gone, long takenStamp) {
    private static Decision of(Next next, List<Invalidation> gone) {
      return new Decision(next, null, gone, 0);
    }
  }

  /**
   * Closes a file if its last block is complete; else starts the recovery of that block. A file
   * that is being truncated is cut first.
   *
   * @param holder who holds the file, as the caller has seen it: a file that another client holds
   *     by now is left alone
   * @return whether the file is closed
   */
  public boolean release(long fileId, String holder) throws IOException {
    NonBlocking.beforeWait();
    long stamp = generationStamps.next();
    return follow(fileId, holder, decide(fileId, holder, stamp), stamp);
  }

  /**
   * Takes the steps that follow a committed decision, until the file is closed or has to wait.
   *
   * @param holder as in {@link #release}
   * @param stamp the stamp that the decision may have given to a recovery
   * @return whether the file is closed
   */
  boolean follow(long fileId, String holder, Decision first, long stamp) throws IOException {
    Decision decision = first;
    long recoveryStamp = stamp;
    blocks.invalidate(decision.gone());
    while (decision.next() == Next.REPEAT) {
      if (recoveryStamp <= decision.takenStamp()) {
        recoveryStamp = generationStamps.nextAbove(decision.takenStamp());
      }
      decision = decide(fileId, holder, recoveryStamp);
      blocks.invalidate(decision.gone());
    }
    if (decision.next() == Next.FREE) {
      encoded.free(fileId, decision.block());
    }
    noteWait(fileId, decision);
    if (decision.next() == Next.RECOVER) {
      LOG.info(
          "Recovering block {} of file {}, because {}",
          decision.block().getBlockId(),
          fileId,
          decision.block().hasRecoveryLengthBytes() ? "it is truncated" : "its writer is gone");
      if (blocks.recover(fileId, decision.block(), recoveryStamp)) {
        attempts.ordered(fileId);
      }
    }
    return decision.next() == Next.CLOSED;
  }

  private void noteWait(long fileId, Decision decision) throws IOException {
    switch (decision.next()) {
      case CLOSED -> forget(fileId);
      case FREE ->
          waits.note(
              fileId,
              encoded
                  .obstacle(decision.block())
                  .orElse(wait(decision, "leaves its stripe: see the transitions of the stripe")));
      case WAIT -> {
        if (decision.block() != null) {
          waits.note(
              fileId,
              wait(
                  decision,
                  "has no good replica on a live disk: bring a server back that holds one, or delete the file"));
        }
      }
      case RECOVER -> {
        if (decision.block().hasRecoveryLengthBytes()) {
          waits.note(fileId, wait(decision, "is cut: see the logs of its chunk servers"));
        }
      }
      case REPEAT -> {}
    }
  }

  private static EncodedBlocks.Obstacle wait(Decision decision, String what) {
    return new EncodedBlocks.Obstacle(
        "its last block %d %s".formatted(decision.block().getBlockId(), what), false);
  }

  /**
   * Refuses a truncation that would keep its file open, because the block at the new end cannot
   * leave its stripe, as far as the namenode knows.
   *
   * @throws RetriableException if it does not know enough yet. A client that knows several
   *     namenodes repeats the call by itself (HDFS: in the safe mode of a start)
   */
  void requireNoLastingObstacle(Inode file, String src, long lengthBytes) throws IOException {
    Optional<BlockRow> block =
        store.transact(
            file.id(),
            Durability.RELAXED,
            transaction -> new FileBlocks(transaction, blocks, file).around(lengthBytes));
    Optional<EncodedBlocks.Obstacle> obstacle =
        block.isEmpty() ? Optional.empty() : encoded.obstacle(block.get());
    if (obstacle.isPresent() && obstacle.get().lasting()) {
      throw new IOException(
          "Cannot truncate %s to %d bytes, within its encoded block %d, now: %s"
              .formatted(src, lengthBytes, block.get().getBlockId(), obstacle.get().reason()));
    }
    if (obstacle.isPresent() && obstacle.get().starting()) {
      throw new RetriableException(
          new SafeModeException(
              "Cannot truncate %s to %d bytes, within its encoded block %d. Name node is in safe mode: %s; try again after it"
                  .formatted(src, lengthBytes, block.get().getBlockId(), obstacle.get().reason())));
    }
  }

  /** Chunk servers change their replicas, so the disk has the decision before they hear of it. */
  private Decision decide(long fileId, String holder, long recoveryStamp) throws IOException {
    return PendingSync.outside(
        () ->
            OptimisticTransactions.transact(
                store, fileId, transaction -> decide(transaction, fileId, holder, recoveryStamp)));
  }

  private Decision decide(Transaction transaction, long fileId, String holder, long recoveryStamp)
      throws IOException {
    FileBlocks file =
        new FileBlocks(transaction, blocks, OpenFileLookup.lock(transaction, "a file", fileId));
    if (!file.file().isUnderConstruction()) {
      return Decision.of(Next.CLOSED, List.of());
    }
    UnderConstructionProto writer = file.file().row().getUnderConstruction();
    if (!writer.getClientName().equals(holder)) {
      return Decision.of(Next.WAIT, List.of()); // closed, and opened by another client since
    }
    if (writer.hasTruncatedLengthBytes()) {
      return truncate(transaction, file, recoveryStamp);
    }
    file.lockLast(2);
    Optional<BlockRow> last = file.fromEnd(0);
    if (last.isPresent() && !FileBlocks.isCommitted(last.get())) {
      boolean isGroup = GroupRows.isGroup(last.get());
      boolean neverWritten =
          !isGroup
              && last.get().getPipelineStorageUuidsCount() == 0
              && last.get().getLengthBytes() == 0;
      if (isGroup && !file.completeIfReported(1)) {
        return Decision.of(Next.WAIT, List.of()); // the group before becomes a stripe first
      }
      return neverWritten
          ? dropLast(file)
          : startRecovery(transaction, file, uncut(last.get()), recoveryStamp, List.of());
    }
    if (!file.completeIfReported(1) || !file.completeIfReported(0)) {
      return Decision.of(Next.WAIT, List.of());
    }
    file.close(clock.millis());
    return Decision.of(Next.CLOSED, List.of());
  }

  /** An older version closes a file that is truncated, and leaves in the block what it ignores. */
  private static BlockRow uncut(BlockRow block) {
    return block.toBuilder().clearRecoveryLengthBytes().build();
  }

  /** A stamp for the recovery that {@link #cut} may start. */
  long nextStamp() throws IOException {
    return generationStamps.next();
  }

  /**
   * Begins to cut a file, in a transaction that has locked it and noted its new length. The caller
   * goes on with {@link #follow} after the commit.
   */
  Decision cut(Transaction transaction, Inode file, long recoveryStamp) throws IOException {
    FileBlocks cut = new FileBlocks(transaction, blocks, file);
    if (cut.fromEnd(0).filter(FileBlocks::isCommitted).isEmpty()) {
      throw new StaleReadException(
          "the last block of closed file %d is not finished: the metadata store is damaged"
              .formatted(file.id()));
    }
    return truncate(transaction, cut, recoveryStamp);
  }

  /** Goes on to cut a file: first whole blocks, some in each transaction, then the last block. */
  private Decision truncate(Transaction transaction, FileBlocks file, long recoveryStamp)
      throws IOException {
    long length = file.file().row().getUnderConstruction().getTruncatedLengthBytes();
    List<Invalidation> gone =
        file.removeBeyond(remover, length, BlockRemover.BLOCKS_PER_TRANSACTION);
    if (file.file().row().getLengthBytes() <= length) {
      file.close(clock.millis());
      return Decision.of(Next.CLOSED, gone);
    }
    if (file.count() == 0) {
      throw new StaleReadException(
          "file %d has no blocks and %d bytes: the metadata store is damaged"
              .formatted(file.file().id(), file.file().row().getLengthBytes()));
    }
    if (file.lastOffset() >= length) {
      return Decision.of(Next.REPEAT, gone);
    }
    BlockRow last = file.fromEnd(0).orElseThrow();
    if (last.hasStripeId() || last.hasTransitionId()) {
      return new Decision(Next.FREE, last, gone, 0);
    }
    if (!FileBlocks.isCommitted(last)) { // an earlier recovery has not ended
      BlockRow again = cutAgain(transaction, file, last);
      return again.getPipelineStorageUuidsCount() == 0
          ? new Decision(Next.WAIT, last, gone, 0)
          : startRecovery(transaction, file, again, recoveryStamp, gone);
    }
    List<String> storages =
        file.completeIfReported(0) ? goodStorages(transaction, file) : List.of();
    if (storages.isEmpty()) {
      return new Decision(Next.WAIT, last, gone, 0);
    }
    BlockRow cut =
        file.fromEnd(0).orElseThrow().toBuilder()
            .setRecoveryLengthBytes(length - file.lastOffset())
            .clearPipelineStorageUuids()
            .addAllPipelineStorageUuids(storages)
            .build();
    return startRecovery(transaction, file, cut, recoveryStamp, gone);
  }

  /**
   * The row of a block whose cut is repeated: a whole replica that is back takes part, too, and one
   * that its server has found bad does not any more.
   */
  private static BlockRow cutAgain(Transaction transaction, FileBlocks file, BlockRow last)
      throws IOException {
    Set<String> storages = new LinkedHashSet<>(last.getPipelineStorageUuidsList());
    for (ReplicaRows.Replica replica :
        ReplicaRows.of(transaction, file.file().id(), last.getBlockId())) {
      boolean uncut = replica.row().getGenerationStamp() == last.getGenerationStamp();
      if (uncut && replica.row().getState() == ReplicaStateProto.CORRUPT) {
        storages.remove(replica.storageUuid());
      } else if (uncut
          && replica.finalized()
          && replica.row().getLengthBytes() == last.getLengthBytes()) {
        storages.add(replica.storageUuid());
      }
    }
    long length = file.file().row().getUnderConstruction().getTruncatedLengthBytes();
    return last.toBuilder()
        .setRecoveryLengthBytes(length - file.lastOffset())
        .clearPipelineStorageUuids()
        .addAllPipelineStorageUuids(storages)
        .build();
  }

  /** Whether the recovery of the last block cuts it. */
  private static boolean isCut(FileBlocks file, BlockRow last) {
    return file.file().row().getUnderConstruction().hasTruncatedLengthBytes()
        && last.hasRecoveryLengthBytes();
  }

  /** The disks in service with a good replica of the last block. A corrupt one must not be cut. */
  private List<String> goodStorages(Transaction transaction, FileBlocks file) throws IOException {
    BlockPlaces where =
        blocks.places(
            transaction, file.file().id(), file.fromEnd(0).orElseThrow(), file.lastOffset(), "");
    return where.corrupt()
        ? List.of()
        : where.places().stream().map(BlockPlaces.Place::storageUuid).toList();
  }

  private Decision dropLast(FileBlocks file) throws IOException {
    List<Invalidation> gone = file.removeLast();
    file.close(clock.millis());
    return Decision.of(Next.CLOSED, gone);
  }

  private Decision startRecovery(
      Transaction transaction,
      FileBlocks file,
      BlockRow last,
      long recoveryStamp,
      List<Invalidation> gone)
      throws IOException {
    long taken = FileBlocks.greatestStamp(last);
    if (recoveryStamp <= taken) {
      return new Decision(Next.REPEAT, null, gone, taken);
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
    return new Decision(Next.RECOVER, recovering, gone, 0);
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
              file.lockLast(1);
              noteEnd(file, generationStamp);
              refuseEarly(
                  transaction, file, blockId, delete, delete ? 0 : lengthBytes, storageUuids);
              return synchronize(
                  transaction,
                  file,
                  blockId,
                  generationStamp,
                  lengthBytes,
                  closeFile,
                  delete,
                  storageUuids);
            });
    blocks.invalidate(gone);
  }

  /** A recovery that ends in time is not slow, even if its result is refused. */
  private void noteEnd(FileBlocks file, long generationStamp) throws IOException {
    if (file.fromEnd(0)
        .filter(last -> last.getRecoveryGenerationStamp() == generationStamp)
        .isPresent()) {
      attempts.ended(file.file().id());
    }
  }

  /**
   * Refuses a result that leaves out a holder of which nothing is known yet, or that is shorter
   * than what the client had synced, or than the file is to be truncated to, while a holder is out
   * of service. The file stays open, and {@link LeaseMonitor} has the recovery repeated.
   */
  private void refuseEarly(
      Transaction transaction,
      FileBlocks file,
      long blockId,
      boolean delete,
      long lengthBytes,
      List<String> storageUuids)
      throws IOException {
    Optional<BlockRow> last = file.fromEnd(0);
    if (last.isEmpty()
        || last.get().getBlockId() != blockId
        || FileBlocks.isCommitted(last.get())) {
      return;
    }
    if (GroupRows.isGroup(last.get())) {
      refuseEarly(GroupHolders.read(transaction, last.get()), last.get(), delete, storageUuids);
      return;
    }
    Set<String> others = new LinkedHashSet<>(last.get().getPipelineStorageUuidsList());
    boolean cuts = isCut(file, last.get());
    if (!cuts) { // else no other replica takes part
      ReplicaRows.of(transaction, file.file().id(), blockId)
          .forEach(replica -> others.add(replica.storageUuid()));
    }
    storageUuids.forEach(others::remove);
    Optional<String> unknown = blocks.whyHoldersAreUnknown(others);
    long expected = cuts ? last.get().getRecoveryLengthBytes() : last.get().getLengthBytes();
    if (unknown.isEmpty() && lengthBytes < expected) {
      unknown = blocks.whyHoldersAreAway(others);
    }
    if (unknown.isPresent()) {
      throw new IOException(
          "block %d of file %d is not closed with %d bytes now, %s: its recovery is repeated"
              .formatted(blockId, file.file().id(), lengthBytes, unknown.get()));
    }
  }

  /** The same for a group, of which nothing is promised while it is open. */
  private void refuseEarly(
      GroupHolders holders, BlockRow group, boolean delete, List<String> storageUuids)
      throws IOException {
    Set<String> others = new LinkedHashSet<>(holders.storages());
    storageUuids.forEach(others::remove);
    Optional<String> why = blocks.whyHoldersAreUnknown(others);
    if (why.isEmpty() && delete) {
      why = blocks.whyReadable(holders, group);
    }
    if (why.isPresent()) {
      throw new IOException(
          "block group blk_%d is not %s now, %s: its recovery is repeated"
              .formatted(group.getBlockId(), delete ? "removed" : "closed", why.get()));
    }
  }

  private List<Invalidation> synchronize(
      Transaction transaction,
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
    if (isCut(file, last) && (delete || last.getRecoveryLengthBytes() != lengthBytes)) {
      throw new IOException(
          "blk_%d is to be truncated to %d bytes, and its recovery has %s: its recovery is repeated"
              .formatted(
                  blockId,
                  last.getRecoveryLengthBytes(),
                  delete ? "no replica" : lengthBytes + " bytes"));
    }
    List<Invalidation> gone = List.of();
    if (delete) {
      gone = file.removeLast();
    } else if (GroupRows.isGroup(last)) {
      file.commitGroup(generationStamp, lengthBytes, storageUuids);
      if (!file.completeIfReported(0)) {
        // The reports of the blocks have not come. The monitor closes the file when they have.
        LeaseRows.add(transaction, LeaseManager.RECOVERY_HOLDER, file.file().id(), 0);
        return gone;
      }
    } else {
      file.replaceLast(
          last.toBuilder()
              .setGenerationStamp(generationStamp)
              .setLengthBytes(lengthBytes)
              .setState(BlockStateProto.COMMITTED)
              .clearRecoveryGenerationStamp()
              .clearRecoveryLengthBytes()
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
