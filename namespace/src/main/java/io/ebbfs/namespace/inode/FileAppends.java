package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.lease.LeaseRows;
import io.ebbfs.namespace.lease.Leases;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.UnderConstructionProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/** Opens files to write on at their end. Thread-safe. */
public final class FileAppends {
  /** What a client asks for. */
  public record Request(String src, String clientName, String clientMachine, boolean newBlock) {}

  /** The file, and its last block if that has to be filled first, or null. */
  public record Opened(Inode file, LocatedBlock last) {}

  private final MetadataStore store;
  private final BlockService blocks;
  private final Clock clock;
  private final Leases leases;
  private final LeaseRecovery recovery;

  public FileAppends(
      MetadataStore store,
      BlockService blocks,
      Clock clock,
      Leases leases,
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
   * @throws FileNotFoundException if there is none
   */
  public Opened append(Caller caller, Request request) throws IOException {
    leases.renew(request.clientName());
    return Retrying.repeat(
        () -> {
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

  private static ResolvedPath checked(Transaction transaction, Caller caller, Request request)
      throws IOException {
    ResolvedPath path = Namespace.resolve(transaction, request.src());
    Permissions.checkTraverse(caller, path);
    if (!path.exists()) {
      throw new FileNotFoundException(
          "Failed to append to non-existent file %s for client %s"
              .formatted(path.path(), request.clientMachine()));
    }
    if (path.lastFound().isDirectory()) {
      throw new FileAlreadyExistsException(
          "Cannot append to directory %s; already exists as a directory.".formatted(path.path()));
    }
    Permissions.checkAccess(caller, path, FsAction.WRITE);
    return path;
  }

  private Opened open(Transaction transaction, Caller caller, Request request) throws IOException {
    ResolvedPath path = checked(transaction, caller, request);
    Inode locked = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
    if (locked.isUnderConstruction()) {
      throw new StaleReadException(path.path() + " was opened by another client");
    }
    FileBlocks file = new FileBlocks(transaction, blocks, locked);
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
    return new Opened(file.file(), toFill(transaction, file, request));
  }

  private LocatedBlock toFill(Transaction transaction, FileBlocks file, Request request)
      throws IOException {
    Optional<BlockRow> last = file.fromEnd(0);
    if (last.isEmpty()) {
      return null;
    }
    LocatedBlock where =
        blocks.locate(
            transaction, file.file().id(), last.get(), file.lastOffset(), request.clientMachine());
    if (request.newBlock()) {
      return new LocatedBlock(where.getBlock(), DatanodeInfo.EMPTY_ARRAY);
    }
    if (isClosed(last.get(), file.file())) {
      return null;
    }
    List<String> storages = Arrays.asList(where.getStorageIDs());
    if (storages.isEmpty()) {
      throw new IOException(
          "cannot append to %s: no replica of its last block is on a live disk; wait for its server, or ask for a new block"
              .formatted(request.src()));
    }
    file.replaceLast(
        last.get().toBuilder()
            .setState(BlockStateProto.UNDER_CONSTRUCTION)
            .clearPipelineStorageUuids()
            .addAllPipelineStorageUuids(storages)
            .build());
    return where;
  }

  /**
   * Whether nothing is added to a complete block any more: it is full, or parities cover it, or are
   * about to.
   */
  static boolean isClosed(BlockRow block, Inode file) {
    return block.getState() == BlockStateProto.COMPLETE
        && (block.getLengthBytes() >= file.row().getBlockSizeBytes()
            || block.hasStripeId()
            || block.hasTransitionId());
  }
}
