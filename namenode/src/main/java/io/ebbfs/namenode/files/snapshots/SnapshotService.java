package io.ebbfs.namenode.files.snapshots;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.inodes.SnapshotPlace;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.InvalidPathException;
import org.apache.hadoop.fs.PathIsNotDirectoryException;
import org.apache.hadoop.hdfs.DFSUtil;
import org.apache.hadoop.hdfs.protocol.FSLimitException.PathComponentTooLongException;
import org.apache.hadoop.hdfs.protocol.SnapshotException;

/**
 * Allows, creates, renames and deletes snapshots. Each of these calls writes a handful of rows,
 * however large the directory is. It behaves and fails as in HDFS. Thread-safe.
 */
public final class SnapshotService {
  /** HDFS has a limit of 65,536; each transaction that keeps something reads some of these rows. */
  private static final int MOST_SNAPSHOTS = 65_536;

  /** A removal of a directory looks at each of these. */
  private static final int MOST_DIRECTORIES = 10_000;

  private static final int MOST_NAME_BYTES = 255;

  private static final DateTimeFormatter DEFAULT_NAME =
      DateTimeFormatter.ofPattern("'s'yyyyMMdd-HHmmss.SSS");

  private final MetadataStore store;
  private final Clock clock;
  private final Runnable onDeletion;

  /**
   * @param onDeletion called after a snapshot was deleted, whose rows the reaper removes; must not
   *     block
   */
  public SnapshotService(MetadataStore store, Clock clock, Runnable onDeletion) {
    this.store = store;
    this.clock = clock;
    this.onDeletion = onDeletion;
  }

  private <R> R change(MetadataStore.TransactionBody<R> body) throws IOException {
    return OptimisticTransactions.transact(store, Inode.ROOT_ID, body);
  }

  private static final RowLock EXCLUSIVE = RowLock.exclusive(Tables.SETTING, SnapshotTables.LOCK);

  // ---- directories that may have snapshots ------------------------------------------------------

  /** Lets snapshots of a directory be created. */
  public void allow(Caller caller, String src) throws IOException {
    PermissionChecker.checkSuperuser(caller, "allowSnapshot");
    StoreFormat.raiseToSnapshots(store);
    change(
        transaction -> {
          transaction.lock(List.of(EXCLUSIVE));
          Inode directory = directory(PathResolver.resolve(transaction, src));
          if (directory.row().getSnapshottable()) {
            return null;
          }
          if (directory.isRoot()) {
            throw new SnapshotException(
                "EbbFS has no snapshots of /: allow snapshots of the directories in it");
          }
          refuseNested(transaction, PathResolver.resolve(transaction, src));
          Inode locked = InodeLocks.lock(transaction, List.of(directory)).get(0);
          transaction.put(
              Tables.INODE, locked.key(), locked.row().toBuilder().setSnapshottable(true).build());
          List<SnapshotSpanProto> spans = locked.row().getSnapshotSpansList();
          putTop(transaction, locked.id(), SnapshotTables.newestOf(locked.id(), spans));
          return null;
        });
  }

  /** Writes which snapshot is the newest one: whoever changes something below has seen it. */
  private static void putTop(Transaction transaction, long directoryId, long newest) {
    transaction.snapshots().noteTop(directoryId, newest);
    transaction.put(
        Tables.SNAPSHOT,
        SnapshotTables.snapshottable(directoryId),
        SnapshotRow.newBuilder().setNewest(newest).build());
  }

  private static void refuseNested(Transaction transaction, ResolvedPath path) throws IOException {
    List<Long> all = SnapshotGuard.snapshottable(transaction);
    if (all.size() >= MOST_DIRECTORIES) {
      throw new SnapshotException(
          "%d directories have or may have snapshots, and more are not possible: run 'hdfs dfsadmin -disallowSnapshot' for some of them"
              .formatted(all.size()));
    }
    for (long id : all) {
      Optional<FsPath> other = PathResolver.pathOf(transaction, id);
      if (other.filter(found -> found.isAbove(path.path())).isPresent()) {
        throw nested(path, "ancestor", other.get());
      }
      if (other.filter(found -> path.path().isAbove(found)).isPresent()) {
        throw nested(path, "subdirectory", other.get());
      }
    }
  }

  private static SnapshotException nested(ResolvedPath path, String which, FsPath other) {
    return new SnapshotException(
        "Nested snapshottable directories not allowed: path=%s, the %s %s is already a snapshottable directory."
            .formatted(path.path(), which, other));
  }

  /** Lets no snapshots of a directory be created any more. It must have none. */
  public void disallow(Caller caller, String src) throws IOException {
    PermissionChecker.checkSuperuser(caller, "disallowSnapshot");
    change(
        transaction -> {
          transaction.lock(List.of(EXCLUSIVE));
          ResolvedPath path = PathResolver.resolve(transaction, src);
          Inode directory = directory(path);
          if (!directory.row().getSnapshottable()) {
            return null;
          }
          if (!transaction.scan(Tables.SNAPSHOT, directory.id(), null, 1).isEmpty()) {
            throw new SnapshotException(
                "The directory %s has snapshot(s). Please redo the operation after removing all the snapshots."
                    .formatted(path.path()));
          }
          Inode locked = InodeLocks.lock(transaction, List.of(directory)).get(0);
          transaction.put(
              Tables.INODE, locked.key(), locked.row().toBuilder().clearSnapshottable().build());
          transaction.delete(Tables.SNAPSHOT, SnapshotTables.snapshottable(locked.id()));
          return null;
        });
  }

  private static Inode directory(ResolvedPath path) throws IOException {
    if (!path.exists()) {
      throw PathErrors.notFound("Directory does not exist: " + path.path());
    }
    if (!path.lastFound().isDirectory()) {
      throw new PathIsNotDirectoryException(path.path().toString());
    }
    return path.lastFound();
  }

  private static Inode snapshottable(ResolvedPath path) throws IOException {
    Inode directory = directory(path);
    if (!directory.row().getSnapshottable()) {
      throw new SnapshotException("Directory is not a snapshottable directory: " + path.path());
    }
    return directory;
  }

  // ---- snapshots --------------------------------------------------------------------------------

  /**
   * Creates a snapshot.
   *
   * @param name null or empty for one that tells the time
   * @return the path of the snapshot
   */
  public String create(Caller caller, String src, String name) throws IOException {
    String wanted =
        name == null || name.isEmpty()
            ? DEFAULT_NAME.format(
                Instant.ofEpochMilli(clock.millis()).atZone(ZoneId.systemDefault()))
            : name;
    return change(transaction -> create(transaction, caller, src, wanted));
  }

  private String create(Transaction transaction, Caller caller, String src, String name)
      throws IOException {
    Optional<CallRow> earlier = ClientCall.earlierRun(transaction);
    transaction.lock(List.of(EXCLUSIVE));
    ResolvedPath path = owned(transaction, caller, src);
    if (earlier.isPresent()) {
      if (path.exists()) { // who has the answer must not see an old row of the directory
        InodeLocks.lock(transaction, List.of(path.lastFound()));
      }
      return pathOf(path, nameOf(transaction, path, earlier.get().getInodeId()).orElse(name));
    }
    if (!DFSUtil.isValidNameForComponent(name)) {
      throw new InvalidPathException("Invalid snapshot name: " + name);
    }
    checkName(name, path);
    Inode found = snapshottable(path);
    List<Row<SnapshotRow>> present = SnapshotTables.of(transaction, found.id());
    if (find(present, name).isPresent()) {
      throw new SnapshotException(
          "Failed to add snapshot: there is already a snapshot with the same name \"%s\"."
              .formatted(name));
    }
    if (present.size() >= MOST_SNAPSHOTS) {
      throw new SnapshotException(
          "Failed to add snapshot: there are already %d snapshot(s) and the max directory snapshot limit is %d"
              .formatted(present.size(), MOST_SNAPSHOTS));
    }
    long now = clock.millis();
    long id = write(transaction, found, name, now);
    ClientCall.takeEffect(transaction, id, now);
    return pathOf(path, name);
  }

  private static long write(Transaction transaction, Inode found, String name, long now)
      throws IOException {
    Key nameKey = Tables.inodeName(found.id());
    transaction.lock(
        List.of(
            RowLock.exclusive(Tables.INODE, found.key()),
            RowLock.exclusive(Tables.INODE_NAME, nameKey),
            RowLock.exclusive(Tables.COUNTER, SnapshotTables.lastId())));
    Inode directory = InodeLocks.lock(transaction, List.of(found)).get(0);
    long id =
        1
            + transaction
                .get(Tables.COUNTER, SnapshotTables.lastId())
                .map(CounterRow::getValue)
                .orElse(0L);
    transaction.put(
        Tables.COUNTER, SnapshotTables.lastId(), CounterRow.newBuilder().setValue(id).build());
    InodeRow touched = directory.row().toBuilder().setModifiedMillis(now).build();
    SnapshotRow.Builder row =
        SnapshotRow.newBuilder().setName(name).setCreatedMillis(now).setDirectory(shown(touched));
    if (touched.getExtendedAttributes()) {
      transaction.get(Tables.XATTR, Tables.xattr(directory.id())).ifPresent(row::setAttributes);
    }
    transaction.put(Tables.SNAPSHOT, SnapshotTables.snapshot(directory.id(), id), row.build());
    putTop(transaction, directory.id(), id);
    InodeRow seen = SnapshotTables.with(touched, List.of(SnapshotTables.span(directory.id(), id)));
    transaction.put(Tables.INODE, directory.key(), seen);
    InodeNameRow names = transaction.get(Tables.INODE_NAME, nameKey).orElseThrow();
    transaction.put(
        Tables.INODE_NAME,
        nameKey,
        names.toBuilder()
            .clearSnapshotSpans()
            .addAllSnapshotSpans(seen.getSnapshotSpansList())
            .build());
    return id;
  }

  /** The directory as its snapshot shows it: no directory that has snapshots itself. */
  private static InodeRow shown(InodeRow directory) {
    return directory.toBuilder().clearSnapshottable().clearSnapshotSpans().clearVersions().build();
  }

  /** Deletes a snapshot. What only it shows is removed later. */
  public void delete(Caller caller, String src, String name) throws IOException {
    change(
        transaction -> {
          if (ClientCall.earlierRun(transaction).isPresent()) {
            return null;
          }
          transaction.lock(List.of(EXCLUSIVE));
          ResolvedPath path = owned(transaction, caller, src);
          Inode directory = snapshottable(path);
          Row<SnapshotRow> snapshot =
              find(SnapshotTables.of(transaction, directory.id()), name)
                  .orElseThrow(
                      () ->
                          new SnapshotException(
                              "Cannot delete snapshot %s from path %s: the snapshot does not exist."
                                  .formatted(name, path.path())));
          transaction.lock(List.of(RowLock.exclusive(Tables.SNAPSHOT, snapshot.key())));
          transaction.delete(Tables.SNAPSHOT, snapshot.key());
          transaction.put(
              Tables.SNAPSHOT,
              SnapshotTables.deleted(directory.id(), snapshot.key().firstLong()),
              SnapshotRow.getDefaultInstance());
          ClientCall.takeEffect(transaction, 0, clock.millis());
          return null;
        });
    onDeletion.run();
  }

  public void rename(Caller caller, String src, String oldName, String newName) throws IOException {
    change(
        transaction -> {
          if (ClientCall.earlierRun(transaction).isPresent()) {
            return null;
          }
          transaction.lock(List.of(EXCLUSIVE));
          ResolvedPath path = owned(transaction, caller, src);
          checkName(newName, path);
          Inode directory = snapshottable(path);
          List<Row<SnapshotRow>> present = SnapshotTables.of(transaction, directory.id());
          Row<SnapshotRow> snapshot =
              find(present, oldName)
                  .orElseThrow(
                      () ->
                          new SnapshotException(
                              "The snapshot %s does not exist for directory %s"
                                  .formatted(oldName, path.path())));
          if (!oldName.equals(newName) && find(present, newName).isPresent()) {
            throw new SnapshotException(
                "The snapshot %s already exists for directory %s".formatted(newName, path.path()));
          }
          transaction.lock(List.of(RowLock.exclusive(Tables.SNAPSHOT, snapshot.key())));
          transaction.put(
              Tables.SNAPSHOT,
              snapshot.key(),
              snapshot.value().toBuilder().setName(newName).build());
          ClientCall.takeEffect(transaction, 0, clock.millis());
          return null;
        });
  }

  private static ResolvedPath owned(Transaction transaction, Caller caller, String src)
      throws IOException {
    ResolvedPath path = PathResolver.resolve(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    if (path.exists()) {
      PermissionChecker.checkOwner(caller, path);
    }
    return path;
  }

  private static void checkName(String name, ResolvedPath path)
      throws PathComponentTooLongException {
    if (name.contains("/")) {
      throw new HadoopIllegalArgumentException("Snapshot name cannot contain \"/\"");
    }
    if (name.equals(SnapshotPlace.NAME)) {
      throw new HadoopIllegalArgumentException(
          "\"" + SnapshotPlace.NAME + "\" is a reserved name.");
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MOST_NAME_BYTES) {
      throw new PathComponentTooLongException(MOST_NAME_BYTES, bytes, path.path().toString(), name);
    }
  }

  private static Optional<Row<SnapshotRow>> find(List<Row<SnapshotRow>> all, String name) {
    return all.stream().filter(row -> row.value().getName().equals(name)).findFirst();
  }

  private static Optional<String> nameOf(Transaction transaction, ResolvedPath path, long id)
      throws IOException {
    return transaction
        .get(Tables.SNAPSHOT, SnapshotTables.snapshot(path.lastFound().id(), id))
        .map(SnapshotRow::getName);
  }

  private static String pathOf(ResolvedPath path, String name) {
    return path.path().child(SnapshotPlace.NAME).child(name).toString();
  }

  // ---- lists ------------------------------------------------------------------------------------

  /** A directory that may have snapshots. */
  public record Snapshottable(FsPath path, Inode inode, int snapshots) {}

  /**
   * The directories that may have snapshots; of the caller alone, who is no superuser. Empty if
   * there are none of anybody.
   */
  public Optional<List<Snapshottable>> listDirectories(Caller caller) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        MetadataStore.Durability.RELAXED,
        transaction -> {
          List<Snapshottable> found = new ArrayList<>();
          List<Long> all = SnapshotGuard.snapshottable(transaction);
          for (long id : all) {
            Optional<FsPath> path = PathResolver.pathOf(transaction, id);
            Optional<Inode> inode =
                path.isEmpty()
                    ? Optional.empty()
                    : PathResolver.resolve(transaction, path.get()).last();
            boolean isTheirs =
                inode
                    .filter(i -> caller.isSuperuser() || i.row().getOwner().equals(caller.user()))
                    .isPresent();
            if (isTheirs) {
              int count = SnapshotTables.count(transaction, id);
              found.add(new Snapshottable(path.get(), inode.get(), count));
            }
          }
          found.sort((one, other) -> one.path().toString().compareTo(other.path().toString()));
          return all.isEmpty() ? Optional.empty() : Optional.of(found);
        });
  }

  /** A directory and its snapshots. */
  public record Snapshots(FsPath path, List<Row<SnapshotRow>> rows) {}

  /** The snapshots of a directory in the order of their creation. */
  public Snapshots list(Caller caller, String src) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        MetadataStore.Durability.RELAXED,
        transaction -> {
          ResolvedPath path = PathResolver.resolve(transaction, src);
          PermissionChecker.checkTraverse(caller, path);
          Inode directory = snapshottable(path);
          return new Snapshots(path.path(), SnapshotTables.of(transaction, directory.id()));
        });
  }
}
