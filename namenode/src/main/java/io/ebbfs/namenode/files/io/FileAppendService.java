package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.leases.LeaseRows;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.permission.FsAction;

/** Opens existing files for appending. Thread-safe. */
public final class FileAppendService {
  /** What HDFS says of a block that the client only names. */
  private static final long NO_OFFSET = -1;

  /** The request of a client. */
  public record Request(String src, String clientName, String clientMachine, boolean newBlock) {}

  /** The file, and its last block if the client continues to fill that block, or null. */
  public record Opened(Inode file, BlockPlaces last) {}

  private final MetadataStore store;
  private final BlockService blocks;
  private final Clock clock;
  private final LeaseManager leases;
  private final LeaseRecovery recovery;

  public FileAppendService(
      MetadataStore store,
      BlockService blocks,
      Clock clock,
      LeaseManager leases,
      LeaseRecovery recovery) {
    this.store = store;
    this.blocks = blocks;
    this.clock = clock;
    this.leases = leases;
    this.recovery = recovery;
  }

  /**
   * Opens a file for appending.
   *
   * @throws FileNotFoundException if the path does not exist
   */
  public Opened append(Caller caller, Request request) throws IOException {
    OpenFileLookup.refuseRecoveryHolder(request.src(), request.clientName());
    leases.renew(request.clientName());
    return OptimisticTransactions.repeat(
        () -> {
          Optional<Opened> earlier =
              store.transact(
                  Inode.ROOT_ID, Durability.RELAXED, transaction -> opened(transaction, request));
          if (earlier.isPresent()) {
            return earlier.get();
          }
          ResolvedPath seen =
              store.transact(
                  Inode.ROOT_ID,
                  Durability.RELAXED,
                  transaction -> checked(transaction, caller, request));
          recovery.takeOver(seen.lastFound(), request.src(), request.clientName(), "append to");
          return store.transact(
              seen.lastFound().id(), transaction -> open(transaction, caller, request));
        });
  }

  /**
   * The answer of the first run of the call, if it had one.
   *
   * @throws LeaseExpiredException if the client has lost the file since
   */
  private Optional<Opened> opened(Transaction transaction, Request request) throws IOException {
    Optional<CallRow> call = ClientCall.earlierRun(transaction);
    if (call.isEmpty()) {
      return Optional.empty();
    }
    Inode inode = OpenFileLookup.find(transaction, request.src(), call.get().getInodeId());
    OpenFileLookup.checkLease(inode, request.src(), request.clientName());
    FileBlocks file = new FileBlocks(transaction, blocks, inode);
    Optional<BlockRow> last = file.fromEnd(0);
    return Optional.of(
        new Opened(inode, last.isEmpty() ? null : last(transaction, file, last.get(), request)));
  }

  private static ResolvedPath checked(Transaction transaction, Caller caller, Request request)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, request.src());
    PermissionChecker.checkTraverse(caller, path);
    if (!path.exists()) {
      throw PathErrors.notFound(
          "Failed to append to non-existent file %s for client %s"
              .formatted(path.path(), request.clientMachine()));
    }
    if (path.lastFound().isDirectory()) {
      throw PathErrors.alreadyExists(
          "Cannot append to directory %s; already exists as a directory.".formatted(path.path()));
    }
    PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
    if (path.lastFound().row().hasEcPolicyId() && !request.newBlock()) {
      throw new UnsupportedOperationException(
          "Append on EC file without new block is not supported. Use NEW_BLOCK create flag while"
              + " appending file.");
    }
    return path;
  }

  private Opened open(Transaction transaction, Caller caller, Request request) throws IOException {
    Optional<Opened> earlier = opened(transaction, request);
    if (earlier.isPresent()) {
      return earlier.get();
    }
    ResolvedPath path = checked(transaction, caller, request);
    Inode locked = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    if (locked.isUnderConstruction()) {
      throw new StaleReadException(path.path() + " was opened by another client");
    }
    FileBlocks file = new FileBlocks(transaction, blocks, locked);
    file.lockLast(1);
    if (!file.completeIfReported(0)) {
      throw new IOException(
          "cannot append to %s: its last block has no reported replica yet; try again"
              .formatted(path.path()));
    }
    file.put(
        file.file().row().toBuilder()
            .setUnderConstruction(
                UnderConstructionProto.newBuilder()
                    .setClientName(request.clientName())
                    .setClientMachine(request.clientMachine()))
            .build());
    LeaseRows.add(transaction, request.clientName(), locked.id(), clock.millis());
    BlockPlaces last = lastToAnswer(transaction, file, request);
    ClientCall.takeEffect(transaction, locked.id(), clock.millis());
    return new Opened(file.file(), last);
  }

  private BlockPlaces lastToAnswer(Transaction transaction, FileBlocks file, Request request)
      throws IOException {
    Optional<BlockRow> last = file.fromEnd(0);
    if (last.isEmpty()) {
      return null;
    }
    BlockPlaces where = last(transaction, file, last.get(), request);
    if (where != null && !request.newBlock()) {
      continueToFill(file, last.get(), where, request);
    }
    return where;
  }

  /** The last block as the client wants to know it: null if the client cannot fill it. */
  private BlockPlaces last(Transaction transaction, FileBlocks file, BlockRow last, Request request)
      throws IOException {
    if (request.newBlock()) {
      return new BlockPlaces(last, NO_OFFSET, List.of(), false);
    }
    return isClosed(last, file.file())
        ? null
        : blocks.places(
            transaction, file.file().id(), last, file.lastOffset(), request.clientMachine());
  }

  private static void continueToFill(
      FileBlocks file, BlockRow last, BlockPlaces where, Request request) throws IOException {
    List<String> storages = where.places().stream().map(BlockPlaces.Place::storageUuid).toList();
    if (storages.isEmpty()) {
      throw new IOException(
          "cannot append to %s: no replica of its last block is on a live disk; wait for its server, or ask for a new block"
              .formatted(request.src()));
    }
    file.replaceLast(
        last.toBuilder()
            .setState(BlockStateProto.UNDER_CONSTRUCTION)
            .clearRecoveryLengthBytes() // an older version leaves it behind
            .clearPipelineStorageUuids()
            .addAllPipelineStorageUuids(storages)
            .build());
  }

  /**
   * Whether a complete block takes no more bytes: because it is full, or because parities cover it
   * or a transition is about to encode it.
   */
  static boolean isClosed(BlockRow block, Inode file) {
    return block.getState() == BlockStateProto.COMPLETE
        && (block.getLengthBytes() >= file.row().getBlockSizeBytes()
            || block.hasStripeId()
            || block.hasInternalOwnerId()
            || block.hasTransitionId());
  }
}
