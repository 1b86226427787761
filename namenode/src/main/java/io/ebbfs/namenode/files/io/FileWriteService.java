package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.policies.InheritedPolicy;
import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.replicas.TypeWish;
import io.ebbfs.namenode.replicas.WriterWishes;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.server.namenode.ErasureCodingPolicyManager;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;

/**
 * Serves the calls of a client's output stream: adds blocks, repairs pipelines, completes the file.
 * Each call may arrive twice, because a client repeats a call whose answer is lost. Thread-safe.
 */
public final class FileWriteService {
  /** The file of a call: a stock client sends the path, the inode id and its own name. */
  public record Handle(String src, long fileId, String clientName, String clientMachine) {}

  private final MetadataStore store;
  private final BlockService blocks;
  private final IdGenerator blockIds;
  private final IdGenerator stripeIds;
  private final IdGenerator generationStamps;
  private final Clock clock;
  private final NamespaceLimits limits;
  private final FileSettings settings;

  public FileWriteService(
      MetadataStore store,
      BlockService blocks,
      IdGenerator blockIds,
      IdGenerator stripeIds,
      IdGenerator generationStamps,
      Clock clock,
      NamespaceLimits limits,
      FileSettings settings) {
    this.store = store;
    this.blocks = blocks;
    this.blockIds = blockIds;
    this.stripeIds = stripeIds;
    this.generationStamps = generationStamps;
    this.clock = clock;
    this.limits = limits;
    this.settings = settings;
  }

  /** Adds a block of a writer without wishes about its places. */
  public BlockPlaces addBlock(Handle handle, Block previous, Set<String> excludedServers)
      throws IOException {
    return addBlock(handle, previous, excludedServers, WriterWishes.NONE);
  }

  /**
   * Adds a block to the end of a file.
   *
   * @param previous the last block, which the client has finished, or null if the file is empty
   * @throws NotReplicatedYetException if the block before the last has no reported replica yet; see
   *     {@link #reported}
   */
  public BlockPlaces addBlock(
      Handle handle, Block previous, Set<String> excludedServers, WriterWishes wishes)
      throws IOException {
    try {
      return addBlock(handle, previous, excludedServers, wishes, newBlock());
    } catch (NeedsGroupException e) {
      return addBlock(handle, previous, excludedServers, wishes, newGroup());
    }
  }

  /** Numbers were drawn for a block, and the file has block groups. */
  private static final class NeedsGroupException extends IOException {
    private static final long serialVersionUID = 1;
  }

  private NewBlock newBlock() throws IOException {
    return new NewBlock(blockIds.next(), generationStamps.next(), 0);
  }

  private NewBlock newGroup() throws IOException {
    int ids = BlockGroupLayout.IDS_OF_GROUP;
    long first = blockIds.nextRun(2 * ids - 1);
    return new NewBlock((first + ids - 1) / ids * ids, generationStamps.next(), stripeIds.next());
  }

  private BlockPlaces addBlock(
      Handle handle,
      Block previous,
      Set<String> excludedServers,
      WriterWishes wishes,
      NewBlock fresh)
      throws IOException {
    try (ChosenTargets chosen = new ChosenTargets(blocks)) {
      BlockPlaces places =
          OptimisticTransactions.transact(
              store,
              handle.fileId(),
              transaction ->
                  addBlock(
                      transaction,
                      handle,
                      previous,
                      fresh,
                      file ->
                          chosen.of(
                              request(file, handle, excludedServers, wishes)
                                  .on(types(transaction, file)))));
      if (places.block().getBlockId() == fresh.blockId()) { // else a repetition
        chosen.keep();
      }
      return places;
    }
  }

  /** Chooses the disks of a new block. */
  @FunctionalInterface
  private interface TargetChoice {
    List<Target> of(Inode file) throws IOException;
  }

  /**
   * The numbers of a block that is to be added.
   *
   * @param stripeId of a block group; 0 for a block
   */
  private record NewBlock(long blockId, long generationStamp, long stripeId) {}

  private BlockPlaces addBlock(
      Transaction transaction, Handle handle, Block previous, NewBlock fresh, TargetChoice targets)
      throws IOException {
    FileBlocks file = lock(transaction, handle);
    if (isRepeatedAdd(file, handle, previous)) {
      return lastPlaces(transaction, file, handle);
    }
    if (file.file().row().hasEcPolicyId() && fresh.stripeId() == 0) {
      throw new NeedsGroupException();
    }
    file.lockGroupsAnd(2, fresh.stripeId());
    file.commitLast(previous);
    if (!file.completeIfReported(1)) {
      throw new NotReplicatedYetException("Not replicated yet: " + handle.src());
    }
    if (file.count() >= limits.maxBlocksPerFile()) {
      throw new IOException(
          "File has reached the limit on maximum number of blocks (maxBlocksPerFile): %d >= %d: %s"
              .formatted(file.count(), limits.maxBlocksPerFile(), handle.src()));
    }
    List<Target> chosen = targets.of(file.file());
    if (fresh.stripeId() == 0) {
      file.append(row(file.file(), fresh, chosen));
    } else {
      requireEnough(file.file(), handle, chosen);
      file.appendGroup(
          BlockGroups.group(
              file.file().row(), fresh.blockId(), fresh.generationStamp(), fresh.stripeId()),
          chosen);
    }
    return lastPlaces(transaction, file, handle);
  }

  /** As in HDFS, a group needs a server for each block with data. Parities may be missing. */
  private static void requireEnough(Inode file, Handle handle, List<Target> chosen)
      throws IOException {
    BlockGroupLayout layout = BlockGroupLayout.of(file.row().getEcPolicyId());
    if (chosen.size() < layout.dataUnits()) {
      throw new IOException(
          "File %s could only be written to %d of the %d required nodes for %s. Start more chunk servers, or take back those that are drained"
              .formatted(
                  handle.src(), chosen.size(), layout.dataUnits(), layout.policy().getName()));
    }
  }

  private static int wantedTargets(Inode file) {
    return file.row().hasEcPolicyId()
        ? BlockGroupLayout.of(file.row().getEcPolicyId()).units()
        : file.row().getReplication();
  }

  private static WriteRequest request(
      Inode file, Handle handle, Set<String> excludedServers, WriterWishes wishes) {
    return new WriteRequest(
        handle.src(),
        wantedTargets(file),
        file.row().getBlockSizeBytes(),
        handle.clientMachine(),
        excludedServers,
        Set.of(),
        wishes);
  }

  /**
   * On which types of disks the storage policy of a file wants its blocks. As in HDFS, the default
   * policy holds for block groups in place of a policy that puts the replicas on different types.
   */
  private TypeWish types(Transaction transaction, Inode file) throws IOException {
    if (!blocks.hasTypedDisks()) {
      return TypeWish.ANY;
    }
    BlockStoragePolicy policy = InheritedPolicy.of(transaction, file.id());
    boolean fits =
        !file.row().hasEcPolicyId()
            || ErasureCodingPolicyManager.checkStoragePolicySuitableForECStripedMode(
                policy.getId());
    return TypeWish.forNewBlock(
        fits ? policy : StoragePolicies.withId(StoragePolicies.UNSPECIFIED), wantedTargets(file));
  }

  private static BlockRow row(Inode file, NewBlock fresh, List<Target> targets) {
    return BlockRow.newBuilder()
        .setBlockId(fresh.blockId())
        .setGenerationStamp(fresh.generationStamp())
        .setLengthBytes(0)
        .setState(BlockStateProto.UNDER_CONSTRUCTION)
        .setReplication(file.row().getReplication())
        .addAllPipelineStorageUuids(
            targets.stream().map(target -> target.disk().storageUuid()).toList())
        .build();
  }

  /** Whether this call is a repetition: an earlier call has added the last block already. */
  private static boolean isRepeatedAdd(FileBlocks file, Handle handle, Block previous)
      throws IOException {
    Optional<BlockRow> last = file.fromEnd(0);
    if (ends(last, previous, file)) {
      return false;
    }
    if (last.isPresent() && ends(file.fromEnd(1), previous, file)) {
      if (last.get().getLengthBytes() != 0) {
        throw new IOException(
            "Request looked like a retry to allocate block blk_%d but it already contains %d bytes"
                .formatted(last.get().getBlockId(), last.get().getLengthBytes()));
      }
      return true;
    }
    throw new IOException(
        "Cannot allocate block in %s: passed 'previous' block %s does not match actual last block in file %s"
            .formatted(
                handle.src(),
                previous,
                last.map(b -> "blk_" + b.getBlockId() + "_" + b.getGenerationStamp())
                    .orElse("(none)")));
  }

  /** Whether the client names this block as the last. For a closed block it may name none. */
  private static boolean ends(Optional<BlockRow> row, Block previous, FileBlocks file) {
    return matches(row, previous)
        || previous == null
            && row.filter(block -> FileAppendService.isClosed(block, file.file())).isPresent();
  }

  private static boolean matches(Optional<BlockRow> row, Block block) {
    return block == null
        ? row.isEmpty()
        : row.isPresent()
            && row.get().getBlockId() == block.getBlockId()
            && row.get().getGenerationStamp() == block.getGenerationStamp();
  }

  private FileBlocks lock(Transaction transaction, Handle handle) throws IOException {
    return new FileBlocks(
        transaction,
        blocks,
        OpenFileLookup.lock(transaction, handle.src(), handle.fileId(), handle.clientName()));
  }

  private BlockPlaces lastPlaces(Transaction transaction, FileBlocks file, Handle handle)
      throws IOException {
    return blocks.places(
        transaction,
        file.file().id(),
        file.fromEnd(0).orElseThrow(),
        file.lastOffset(),
        handle.clientMachine());
  }

  /**
   * Completes once the block for which {@link #addBlock} or {@link #complete} waits has a reported
   * replica, or after {@link FileSettings#completeWaitMillis}. The caller then repeats its call.
   *
   * @param back how many blocks before the last of the call: 1 for addBlock, 0 for complete
   * @param last the last block of the call
   */
  public CompletableFuture<Void> reported(Handle handle, int back, Block last) throws IOException {
    record Waiting(long ownerId, BlockRow block) {}
    Waiting waiting =
        store.transact(
            handle.fileId(),
            Durability.RELAXED,
            t -> {
              Inode found = OpenFileLookup.find(t, handle.src(), handle.fileId());
              FileBlocks file = new FileBlocks(t, blocks, found);
              // If the call is a repetition, its block is one further from the end.
              int from = back == 0 || matches(file.fromEnd(0), last) ? back : back + 1;
              Optional<BlockRow> block =
                  file.fromEnd(from).filter(b -> b.getState() == BlockStateProto.COMMITTED);
              if (block.isEmpty()) {
                return null;
              }
              return GroupRows.isGroup(block.get())
                  ? new Waiting(
                      block.get().getInternalOwnerId(), BlockGroups.awaited(t, blocks, block.get()))
                  : new Waiting(found.id(), block.get());
            });
    return waiting == null
        ? CompletableFuture.completedFuture(null)
        : blocks.firstReplica(waiting.ownerId(), waiting.block(), settings.completeWaitMillis());
  }

  /** Removes the last block, which the client could not write. */
  public void abandonBlock(Handle handle, Block block) throws IOException {
    List<Invalidation> gone =
        OptimisticTransactions.transact(
            store,
            handle.fileId(),
            transaction -> {
              FileBlocks file = lock(transaction, handle);
              file.lockLast(1);
              boolean isLast =
                  file.fromEnd(0)
                      .filter(b -> b.getBlockId() == block.getBlockId())
                      .filter(b -> !FileBlocks.isCommitted(b))
                      .isPresent();
              return isLast ? file.removeLast() : List.of(); // else a repetition
            });
    blocks.invalidate(gone);
  }

  /**
   * Completes a file: closes it after the last block.
   *
   * @param last the last block, which the client has finished, or null if the file is empty
   * @return false if the last block, or the one before, has no reported replica yet; see {@link
   *     #reported}
   */
  public boolean complete(Handle handle, Block last) throws IOException {
    return OptimisticTransactions.transact(store, handle.fileId(), t -> complete(t, handle, last));
  }

  private boolean complete(Transaction transaction, Handle handle, Block last) throws IOException {
    Inode found = OpenFileLookup.lock(transaction, handle.src(), handle.fileId());
    FileBlocks file = new FileBlocks(transaction, blocks, found);
    if (found.isFile() && !found.isUnderConstruction() && matches(file.fromEnd(0), last)) {
      return true; // a repetition
    }
    OpenFileLookup.checkLease(found, handle.src(), handle.clientName());
    file.lockGroups(2);
    file.commitLast(last);
    if (file.fromEnd(0).filter(b -> !FileBlocks.isCommitted(b)).isPresent()) {
      throw new IOException(
          "cannot complete %s: its last block is still being written".formatted(handle.src()));
    }
    if (!file.completeIfReported(1) || !file.completeIfReported(0)) {
      return false;
    }
    file.close(clock.millis());
    return true;
  }

  /**
   * Stores the present length of the last block, so that readers see it. They see nothing of a
   * block group before its end.
   */
  public void fsync(Handle handle, long lastBlockLengthBytes) throws IOException {
    OptimisticTransactions.transact(
        store,
        handle.fileId(),
        transaction -> {
          FileBlocks file = lock(transaction, handle);
          Optional<BlockRow> last = file.fromEnd(0).filter(b -> !FileBlocks.isCommitted(b));
          if (lastBlockLengthBytes > 0
              && last.isPresent()
              && !GroupRows.isGroup(last.get())
              && last.get().getLengthBytes() < lastBlockLengthBytes) {
            file.replaceLast(last.get().toBuilder().setLengthBytes(lastBlockLengthBytes).build());
          }
          return null;
        });
  }

  /**
   * The places to which the blocks of a group are written; null if the block is no group.
   *
   * @param blockId of the last block of an open file
   */
  public BlockPlaces groupPlaces(long blockId, String clientName) throws IOException {
    return OptimisticTransactions.transact(
        store,
        blockId,
        transaction -> {
          FileBlocks file = checkedLast(transaction, new Block(blockId, 0, 0), clientName);
          BlockRow last = file.fromEnd(0).orElseThrow();
          return GroupRows.isGroup(last)
              ? blocks.places(transaction, file.file().id(), last, file.lastOffset(), "")
              : null;
        });
  }

  /** A new generation stamp for a pipeline that the client repairs; see {@link #updatePipeline}. */
  public long newGenerationStamp(Block block, String clientName) throws IOException {
    long stamp = generationStamps.next();
    long taken = issue(block, clientName, stamp);
    while (taken >= stamp) {
      stamp = generationStamps.nextAbove(taken);
      taken = issue(block, clientName, stamp);
    }
    return stamp;
  }

  /**
   * Notes that replicas may get a stamp, unless it is not above those that the block has or had.
   *
   * @return the greatest stamp before
   */
  private long issue(Block block, String clientName, long stamp) throws IOException {
    return OptimisticTransactions.transact(
        store,
        block.getBlockId(),
        transaction -> {
          FileBlocks file = checkedLast(transaction, block, clientName);
          BlockRow last = file.fromEnd(0).orElseThrow();
          long taken = FileBlocks.greatestStamp(last);
          if (stamp > taken) {
            file.replaceLast(last.toBuilder().setIssuedGenerationStamp(stamp).build());
          }
          return taken;
        });
  }

  /** Stores the new generation and the new disks of a repaired pipeline. */
  public void updatePipeline(
      String clientName, Block oldBlock, Block newBlock, List<String> storageUuids)
      throws IOException {
    OptimisticTransactions.transact(
        store,
        oldBlock.getBlockId(),
        transaction -> {
          FileBlocks file = checkedLast(transaction, oldBlock, clientName);
          BlockRow last = file.fromEnd(0).orElseThrow();
          if (newBlock.getBlockId() != oldBlock.getBlockId()) {
            throw new IOException(newBlock + " is not another generation of " + oldBlock);
          }
          if (last.getGenerationStamp() == newBlock.getGenerationStamp()) {
            return null; // a repetition
          }
          if (newBlock.getGenerationStamp() < last.getGenerationStamp()
              || newBlock.getNumBytes() < last.getLengthBytes()) {
            throw new IOException(
                "Update blk_%d_%d (length = %d) to an older state: %s (length = %d)"
                    .formatted(
                        last.getBlockId(),
                        last.getGenerationStamp(),
                        last.getLengthBytes(),
                        newBlock,
                        newBlock.getNumBytes()));
          }
          BlockRow.Builder renewed =
              last.toBuilder().setGenerationStamp(newBlock.getGenerationStamp());
          if (GroupRows.isGroup(last)) {
            // A group may be dropped until it is committed: a file does not have its bytes before.
            BlockGroups.renew(transaction, last, newBlock.getGenerationStamp(), storageUuids);
          } else {
            renewed
                .setLengthBytes(newBlock.getNumBytes())
                .clearPipelineStorageUuids()
                .addAllPipelineStorageUuids(storageUuids);
          }
          file.replaceLast(renewed.build());
          return null;
        });
  }

  private FileBlocks checkedLast(Transaction transaction, Block block, String clientName)
      throws IOException {
    Inode found =
        OpenFileLookup.lockOwner(transaction, block.getBlockId())
            .orElseThrow(() -> PathErrors.notFound(block + " belongs to no file: it was deleted"));
    OpenFileLookup.checkLease(found, "the file of " + block, clientName);
    FileBlocks file = new FileBlocks(transaction, blocks, found);
    file.lockLast(1);
    BlockRow last = file.fromEnd(0).orElseThrow();
    if (last.getBlockId() != block.getBlockId()
        || last.getState() != BlockStateProto.UNDER_CONSTRUCTION) {
      throw new IOException(block + " is not the block that is being written");
    }
    return file;
  }

  /** Chooses disks that replace failed disks of a pipeline. */
  public List<Target> additionalTargets(
      Handle handle, Set<String> keptStorages, Set<String> excludedServers, int count)
      throws IOException {
    record Found(Inode file, TypeWish types) {}
    Found found =
        store.transact(
            handle.fileId(),
            Durability.RELAXED,
            t -> {
              Inode opened = OpenFileLookup.find(t, handle.src(), handle.fileId());
              return new Found(opened, types(t, opened));
            });
    Inode file = found.file();
    OpenFileLookup.checkLease(file, handle.src(), handle.clientName());
    return blocks.chooseTargets(
        new WriteRequest(
                handle.src(),
                count,
                file.row().getBlockSizeBytes(),
                handle.clientMachine(),
                excludedServers,
                keptStorages)
            .on(found.types()));
  }
}
