package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FileStatusConverter;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodePolicies;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.inodes.SnapshotEntries;
import io.ebbfs.namenode.files.xattrs.XAttrRows;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;

/**
 * Serves readers: block locations, file status, listings. Takes no locks, but for a listing that
 * meets a rename. Thread-safe.
 */
public final class FileReadService {
  /** The blocks of a file that a thread locates though it must not be busy for long. */
  private static final int FEW_BLOCKS = 64;

  private final MetadataStore store;
  private final BlockService blocks;
  private final Clock clock;
  private final NamespaceLimits limits;
  private final OpenListener opens;

  public FileReadService(
      MetadataStore store,
      BlockService blocks,
      Clock clock,
      NamespaceLimits limits,
      OpenListener opens) {
    this.store = store;
    this.blocks = blocks;
    this.clock = clock;
    this.limits = limits;
    this.opens = opens;
  }

  /** A file, and its blocks that overlap a range. */
  private record Found(Inode inode, ResolvedPath path, FilePlaces places) {}

  /**
   * Locates the blocks that overlap a range of a file. A range from the start counts as an open:
   * the {@link OpenListener} gets an event.
   *
   * @throws FileNotFoundException if the path is no file
   */
  public FilePlaces places(
      Caller caller, String src, long offsetBytes, long lengthBytes, String clientMachine)
      throws IOException {
    if (offsetBytes < 0 || lengthBytes < 0) {
      throw new HadoopIllegalArgumentException(
          "Negative offset or length is not supported: offset %d, length %d, file %s"
              .formatted(offsetBytes, lengthBytes, src));
    }
    Found found =
        OptimisticTransactions.repeat(
            () ->
                read(
                    transaction ->
                        find(transaction, caller, src, offsetBytes, lengthBytes, clientMachine)));
    if (offsetBytes == 0 && !found.path().isInSnapshots()) {
      opens.opened(found.inode().id(), found.path().path(), clock.millis(), clientMachine);
    }
    return found.places();
  }

  private Found find(
      Transaction transaction,
      Caller caller,
      String src,
      long offsetBytes,
      long lengthBytes,
      String clientMachine)
      throws IOException {
    ResolvedPath path = PathResolver.resolveToRead(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    Inode file = path.requireFile();
    PermissionChecker.checkAccess(caller, path, FsAction.READ);
    XAttrRows.checkReadableBySuperuser(transaction, caller, path);
    return new Found(
        file, path, places(transaction, path, file, offsetBytes, lengthBytes, clientMachine));
  }

  /** {@link #places} for Hadoop's classes. */
  public LocatedBlocks locate(
      Caller caller, String src, long offsetBytes, long lengthBytes, String clientMachine)
      throws IOException {
    return located(places(caller, src, offsetBytes, lengthBytes, clientMachine));
  }

  private LocatedBlocks located(FilePlaces file) {
    return new LocatedBlocks(
        file.lengthBytes(),
        file.underConstruction(),
        file.blocks().stream().map(blocks::located).toList(),
        file.last() == null ? null : blocks.located(file.last()),
        file.lastComplete(),
        null,
        file.policy());
  }

  private <R> R read(MetadataStore.TransactionBody<R> body) throws IOException {
    return store.transact(Inode.ROOT_ID, Durability.RELAXED, body);
  }

  private FilePlaces places(
      Transaction transaction,
      ResolvedPath path,
      Inode file,
      long offset,
      long length,
      String clientMachine)
      throws IOException {
    return path.isInSnapshots()
        ? SnapshotPlaces.of(transaction, blocks, file, offset, length, clientMachine)
        : places(transaction, file, offset, length, clientMachine);
  }

  private FilePlaces places(
      Transaction transaction, Inode file, long offset, long length, String clientMachine)
      throws IOException {
    if (file.row().getBlocks() > FEW_BLOCKS) {
      NonBlocking.beforeWait();
    }
    List<Row<BlockRow>> rows = transaction.scan(Tables.BLOCK, file.id());
    requireOneKind(file, rows);
    long end = length > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + length;
    List<BlockPlaces> inRangeBlocks = new ArrayList<>();
    long position = 0;
    BlockPlaces last = null;
    boolean lastComplete = true;
    for (int i = 0; i < rows.size(); i++) {
      BlockRow block = rows.get(i).value();
      boolean inRange = position < end && position + block.getLengthBytes() > offset;
      boolean finished = FileBlocks.isCommitted(block);
      boolean isLast = i == rows.size() - 1;
      if (inRange && finished || isLast) {
        BlockPlaces where = blocks.places(transaction, file.id(), block, position, clientMachine);
        if (inRange && finished) {
          inRangeBlocks.add(where);
        }
        if (isLast) {
          last = where;
          lastComplete =
              block.getState() == BlockStateProto.COMPLETE || !file.isUnderConstruction();
        }
      }
      position += finished ? block.getLengthBytes() : 0;
    }
    return new FilePlaces(
        position,
        file.isUnderConstruction(),
        inRangeBlocks,
        last,
        lastComplete,
        BlockGroupLayout.shown(file.row().hasEcPolicyId(), file.row().getEcPolicyId()));
  }

  /**
   * Refuses blocks that are read across the commit that makes replicas of block groups: clients
   * would take a group for a block, or miss blocks that follow. A closed file has blocks of one
   * kind, the one that its row tells.
   *
   * @throws StaleReadException if the row of the file and those of its blocks do not fit
   */
  private static void requireOneKind(Inode file, List<Row<BlockRow>> rows)
      throws StaleReadException {
    if (file.isUnderConstruction()) {
      return;
    }
    boolean coded = InodePolicies.isErasureCoded(file.row());
    boolean lacksBlocks = file.row().hasReleasedMillis() && rows.size() < file.row().getBlocks();
    if (lacksBlocks || rows.stream().anyMatch(row -> GroupRows.isGroup(row.value()) != coded)) {
      throw new StaleReadException(
          "the blocks of file %d change between block groups and replicas".formatted(file.id()));
    }
  }

  /** The status of a path, with block locations if asked for, or null if it does not exist. */
  public HdfsFileStatus status(
      Caller caller, String src, boolean withLocations, String clientMachine) throws IOException {
    return OptimisticTransactions.repeat(
        () -> read(transaction -> status(transaction, caller, src, withLocations, clientMachine)));
  }

  private HdfsFileStatus status(
      Transaction transaction,
      Caller caller,
      String src,
      boolean withLocations,
      String clientMachine)
      throws IOException {
    ResolvedPath path = PathResolver.resolveToRead(transaction, src);
    PermissionChecker.checkTraverseToLook(caller, path);
    if (!path.exists()) {
      return null;
    }
    return status(
        transaction,
        path,
        InodePolicies.shown(path.shown().orElseThrow(), InodePolicies.inherited(path.inodes())),
        HdfsFileStatus.EMPTY_NAME,
        withLocations,
        clientMachine);
  }

  private HdfsFileStatus status(
      Transaction transaction,
      ResolvedPath path,
      Inode inode,
      byte[] name,
      boolean withLocations,
      String clientMachine)
      throws IOException {
    if (!withLocations) {
      return FileStatusConverter.of(inode, name);
    }
    // A directory has no locations at all: stock clients do not accept an empty list.
    LocatedBlocks located =
        inode.isFile()
            ? located(places(transaction, path, inode, 0, Long.MAX_VALUE, clientMachine))
            : null;
    return FileStatusConverter.located(inode, name, located);
  }

  /**
   * A part of a directory in the order of names, or a file alone.
   *
   * @param path what is listed
   * @param remaining how many entries follow after the page: clients only check whether it is above
   *     0
   */
  public record Page(ResolvedPath path, List<Inode> inodes, int remaining) {
    public Inode listed() {
      return path.lastFound();
    }
  }

  /**
   * A page of a directory, or the file at the path. Null if the path does not exist.
   *
   * @param startAfter the last name of the previous page, or empty for the first page
   */
  public Page list(Caller caller, String src, byte[] startAfter) throws IOException {
    return OptimisticTransactions.repeat(
        () -> read(transaction -> page(transaction, caller, src, startAfter, false)));
  }

  /** The same as the objects of Hadoop, with block locations if asked for. */
  public DirectoryListing list(
      Caller caller, String src, byte[] startAfter, boolean withLocations, String clientMachine)
      throws IOException {
    if (withLocations) {
      NonBlocking.beforeWait(); // the blocks of many files
    }
    return OptimisticTransactions.repeat(
        () ->
            read(
                transaction -> {
                  Page page = page(transaction, caller, src, startAfter, withLocations);
                  return page == null
                      ? null
                      : listing(transaction, page, withLocations, clientMachine);
                }));
  }

  private DirectoryListing listing(
      Transaction transaction, Page page, boolean withLocations, String clientMachine)
      throws IOException {
    List<HdfsFileStatus> statuses = new ArrayList<>();
    for (Inode inode : page.inodes()) {
      byte[] name = page.listed().isDirectory() ? inode.name() : HdfsFileStatus.EMPTY_NAME;
      statuses.add(status(transaction, page.path(), inode, name, withLocations, clientMachine));
    }
    return new DirectoryListing(statuses.toArray(HdfsFileStatus[]::new), page.remaining());
  }

  private Page page(
      Transaction transaction, Caller caller, String src, byte[] startAfter, boolean withLocations)
      throws IOException {
    ResolvedPath path = PathResolver.resolveToRead(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    if (!path.exists()) {
      return null;
    }
    Inode listed = path.shown().orElseThrow();
    if (listed.isFile()) {
      return new Page(path, List.of(listed), 0);
    }
    PermissionChecker.checkAccess(caller, path, FsAction.READ_EXECUTE);
    return page(path, entries(transaction, path, startAfter), withLocations);
  }

  /** As many entries as a page has, and one more if there is one. */
  private List<Inode> entries(Transaction transaction, ResolvedPath path, byte[] startAfter)
      throws IOException {
    int limit = limits.listingPage() + 1;
    if (path.isInSnapshots()) {
      return SnapshotEntries.list(transaction, path, startAfter, limit);
    }
    List<Row<InodeRow>> rows = EntryScan.run(transaction, path.lastFound(), startAfter, limit);
    if (transaction.isShared()) {
      requireNoHalfRename(transaction, rows);
    }
    return rows.stream().map(row -> new Inode(row.key(), row.value())).toList();
  }

  private Page page(ResolvedPath path, List<Inode> entries, boolean withLocations) {
    int limit = limits.listingPage();
    int policy = path.shown().orElseThrow().row().getStoragePolicy();
    OptionalInt inherited = InodePolicies.inherited(path.inodes());
    List<Inode> inodes = new ArrayList<>(Math.min(entries.size(), limit));
    long locatedBlocks = 0;
    for (Inode entry : entries) {
      // As in HDFS, a page with locations is also bounded by their number.
      if (inodes.size() == limit || locatedBlocks > limit) {
        break;
      }
      inodes.add(InodePolicies.shown(entry.showing(policy), inherited));
      locatedBlocks += withLocations ? entry.row().getBlocks() : 0;
    }
    return new Page(path, inodes, entries.size() - inodes.size());
  }

  /**
   * Refuses a page that has an inode under two names. A shared store may show the new name of a
   * rename before the old name goes; the locks make the transaction wait for the rename.
   *
   * @throws StaleReadException if the rename has ended meanwhile
   */
  private static void requireNoHalfRename(Transaction transaction, List<Row<InodeRow>> rows)
      throws IOException {
    Map<Long, Key> names = new HashMap<>(2 * rows.size());
    List<RowLock> doubles = new ArrayList<>();
    for (Row<InodeRow> row : rows) {
      Key other = names.put(row.value().getId(), row.key());
      if (other != null) {
        doubles.add(RowLock.shared(Tables.INODE, other));
        doubles.add(RowLock.shared(Tables.INODE, row.key()));
      }
    }
    if (doubles.isEmpty()) {
      return;
    }
    RowSet now = transaction.lockAndRead(doubles);
    for (RowLock lock : doubles) {
      if (now.get(Tables.INODE, lock.key()).isEmpty()) {
        throw new StaleReadException("an entry was renamed while its directory was listed");
      }
    }
  }
}
