package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.inodes.SnapshotEntries;
import io.ebbfs.namenode.store.BytesByPolicy;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsAction;

/** Counts files, directories and bytes below a path, page by page: no snapshot. Thread-safe. */
public final class ContentSummaryService {
  private static final int PAGE = 1000;

  /**
   * @param spaceBytes bytes of all replicas, as quotas count them: by the replication of the files,
   *     whether their blocks are encoded or not
   * @param typeBytes on each type of storage that has some, as HDFS counts them here: the lengths
   *     of the files for each replica, by the storage policies; of files of block groups once
   */
  public record Summary(
      long files,
      long directories,
      long lengthBytes,
      long spaceBytes,
      Map<StorageType, Long> typeBytes) {
    Summary plus(Summary other) {
      Map<StorageType, Long> types = new EnumMap<>(StorageType.class);
      types.putAll(typeBytes);
      other.typeBytes.forEach((type, bytes) -> types.merge(type, bytes, Long::sum));
      return new Summary(
          files + other.files,
          directories + other.directories,
          lengthBytes + other.lengthBytes,
          spaceBytes + other.spaceBytes,
          types);
    }
  }

  /**
   * What an inode holds, and its limits.
   *
   * @param names files and directories
   * @param typeBytes on each type of storage that has some; of a directory whose sums are kept,
   *     only where a quota by type holds or held
   */
  public record Consumption(
      long names, long spaceBytes, Map<StorageType, Long> typeBytes, QuotaLimitsProto limits) {}

  /** An inode, the snapshot that shows it, and the storage policy that holds for it. */
  private record Below(Inode inode, FsPath path, long snapshotId, int policyId) {
    Below child(Inode child) {
      return new Below(
          child,
          path.child(child.nameText()),
          snapshotId,
          child.row().hasStoragePolicy() ? child.row().getStoragePolicy() : policyId);
    }
  }

  private final MetadataStore store;

  public ContentSummaryService(MetadataStore store) {
    this.store = store;
  }

  /**
   * Counts the inode at a path and everything below it.
   *
   * @throws FileNotFoundException if the path does not exist
   */
  public Summary summarize(Caller caller, String src) throws IOException {
    return summarize(caller, find(caller, src));
  }

  /**
   * The limits of the directory at a path; none for a file.
   *
   * @throws FileNotFoundException if the path does not exist
   */
  public QuotaLimitsProto limits(Caller caller, String src) throws IOException {
    Inode inode = find(caller, src).inode();
    Optional<QuotaRows.Totals> totals =
        inode.row().getCounted()
            ? read(transaction -> QuotaRows.totals(transaction, inode.id()))
            : Optional.empty();
    return totals.map(QuotaRows.Totals::limits).orElse(QuotaLimitsProto.getDefaultInstance());
  }

  /**
   * The sums that are kept of a counted directory; else those of a count. Whoever is no superuser
   * needs the right to count, too.
   *
   * @throws FileNotFoundException if the path does not exist
   */
  public Consumption consumption(Caller caller, String src) throws IOException {
    Below top = find(caller, src);
    Optional<QuotaRows.Totals> totals =
        top.inode().row().getCounted()
            ? read(transaction -> QuotaRows.totals(transaction, top.inode().id()))
            : Optional.empty();
    boolean isKept = totals.filter(QuotaRows.Totals::complete).isPresent();
    Summary summary = isKept && caller.isSuperuser() ? null : summarize(caller, top);
    return isKept
        ? new Consumption(
            totals.get().names(),
            totals.get().bytes(),
            totals.get().types(top.policyId()),
            totals.get().limits())
        : new Consumption(
            summary.files() + summary.directories(),
            summary.spaceBytes(),
            summary.typeBytes(),
            QuotaLimitsProto.getDefaultInstance());
  }

  private Below find(Caller caller, String src) throws IOException {
    return read(
        transaction -> {
          ResolvedPath path = PathResolver.resolveToRead(transaction, src);
          PermissionChecker.checkTraverse(caller, path);
          if (!path.exists()) {
            throw PathErrors.notFound("File does not exist: " + path.path());
          }
          return new Below(path.lastFound(), path.path(), path.snapshotId(), path.policyId());
        });
  }

  private Summary summarize(Caller caller, Below top) throws IOException {
    if (top.inode().isFile()) {
      return read(transaction -> ofFile(transaction, top));
    }
    Deque<Below> left = new ArrayDeque<>();
    left.push(top);
    Summary sum = new Summary(0, 0, 0, 0, Map.of());
    while (!left.isEmpty()) {
      sum = sum.plus(ofDirectory(caller, left.pop(), left));
    }
    return sum;
  }

  private <R> R read(MetadataStore.TransactionBody<R> body) throws IOException {
    return store.transact(Inode.ROOT_ID, Durability.RELAXED, body);
  }

  private Summary ofDirectory(Caller caller, Below directory, Deque<Below> left)
      throws IOException {
    if (!caller.isSuperuser()) {
      PermissionChecker.check(caller, directory.inode(), directory.path(), FsAction.READ_EXECUTE);
    }
    Summary sum = new Summary(0, 1, 0, 0, Map.of());
    byte[] after = new byte[0];
    List<SnapshotEntries.Entry> page;
    do {
      byte[] from = after;
      long snapshotId = directory.snapshotId();
      long id = directory.inode().id();
      page = read(t -> SnapshotEntries.page(t, snapshotId, id, from, PAGE));
      for (SnapshotEntries.Entry entry : page) {
        Inode child = entry.inode();
        Below below = directory.child(child);
        if (child.isDirectory()) {
          left.push(below);
        } else {
          sum = sum.plus(read(transaction -> ofFile(transaction, below)));
        }
        after = child.name();
      }
    } while (page.size() == PAGE);
    return sum;
  }

  private static Summary ofFile(Transaction transaction, Below file) throws IOException {
    InodeRow row = file.inode().row();
    long space =
        file.snapshotId() == SnapshotEntries.NOW
            ? QuotaMarks.bytes(transaction, row)
            : QuotaMarks.bytesInSnapshot(transaction, row);
    return new Summary(
        1, 0, row.getLengthBytes(), space, BytesByPolicy.ofSummary(row, file.policyId()));
  }
}
