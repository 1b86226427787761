package io.ebbfs.namenode.audit;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Compares the sums of counted directories with the inodes that count in them, and the mark of each
 * inode with its place. It is exact only if nobody changes the rows meanwhile. Used by one thread.
 */
public final class QuotaCheck {
  /** The sums of one counted directory. */
  private static final class Sums {
    private long names;
    private long bytes;
    private long shards;
    private long keptNames;
    private long keptBytes;
    private long deleted;
    private long keptDeleted;
    private long nameCredit;
    private long byteCredit;
    private long parent;
    private boolean complete;
    private QuotaLimitsProto limits = QuotaLimitsProto.getDefaultInstance();
  }

  private final MetadataStore store;
  private final Map<Long, Sums> directories = new HashMap<>();
  private final List<String> findings = new ArrayList<>();

  private QuotaCheck(MetadataStore store) {
    this.store = store;
  }

  /** What does not fit, in a sentence each. A store without quotas is not read. */
  public static List<String> run(MetadataStore store) throws IOException {
    QuotaCheck check = new QuotaCheck(store);
    store.eachRow(Tables.QUOTA, check::shard);
    if (!check.directories.isEmpty()) {
      store.eachRow(Tables.INODE, check::inode);
      check.directories.forEach(check::compare);
    }
    return check.findings;
  }

  private void require(boolean holds, String format, Object... arguments) {
    if (!holds) {
      findings.add(format.formatted(arguments));
    }
  }

  private void shard(Key key, QuotaRow row) {
    Sums sums = directories.computeIfAbsent(key.partition(), id -> new Sums());
    require(
        sums.shards == 0 || sums.parent == row.getCountedIn(),
        "shards of directory %d count in %d and %d",
        key.partition(),
        sums.parent,
        row.getCountedIn());
    sums.shards++;
    sums.parent = row.getCountedIn();
    sums.keptNames += row.getNames();
    sums.keptBytes += row.getBytes();
    sums.keptDeleted += row.getDeleted();
    sums.nameCredit += row.getNameCredit();
    sums.byteCredit += row.getByteCredit();
    if (key.firstLong() == 0) {
      sums.complete = row.getComplete();
      sums.limits = row.getLimits();
    }
  }

  private void inode(Key key, InodeRow row) throws IOException {
    for (long id = QuotaMarks.homeOfInode(row); directories.containsKey(id); ) {
      Sums sums = directories.get(id);
      sums.names++;
      sums.bytes += row.getCountedBytes();
      sums.deleted += key.partition() == Inode.PENDING_DELETION_ID && !row.getCounted() ? 1 : 0;
      id = sums.parent;
    }
    if (row.getCounted()) {
      Sums own = directories.get(row.getId());
      require(
          own != null && own.parent == row.getCountedIn(),
          "directory %d counts in %d, but its shards say %s",
          row.getId(),
          row.getCountedIn(),
          own == null ? "nothing" : own.parent);
    }
    if (row.hasCountedIn() && row.getBlocks() > 0) {
      long bytes =
          store.transact(
              row.getId(), Durability.RELAXED, transaction -> QuotaMarks.bytes(transaction, row));
      require(
          bytes == row.getCountedBytes(),
          "file %d counts with %d bytes instead of %d",
          row.getId(),
          row.getCountedBytes(),
          bytes);
    }
    if (key.partition() != Inode.NOWHERE_ID && key.partition() != Inode.PENDING_DELETION_ID) {
      place(key.partition(), row);
    }
  }

  /**
   * Below a directory that is being removed, or is not counted as a whole yet, marks may differ.
   */
  private void place(long directoryId, InodeRow row) throws IOException {
    Optional<InodeNameRow> name = get(Tables.INODE_NAME, Tables.inodeName(directoryId));
    if (name.isEmpty() || name.get().getParentId() == Inode.PENDING_DELETION_ID) {
      return;
    }
    Key key = Tables.inode(name.get().getParentId(), name.get().getName().toByteArray());
    Optional<InodeRow> directory = get(Tables.INODE, key);
    if (directory.isPresent()) {
      long home = QuotaMarks.homeOfEntries(directory.get());
      Sums sums = directories.get(home);
      require(
          row.getCountedIn() == home || sums != null && !sums.complete,
          "inode %d counts in %d, but its directory %d counts in %d",
          row.getId(),
          row.getCountedIn(),
          directoryId,
          home);
    }
  }

  private <V extends MessageLite> Optional<V> get(Table<V> table, Key key) throws IOException {
    return store.transact(
        key.partition(), Durability.RELAXED, transaction -> transaction.get(table, key));
  }

  private void compare(long id, Sums sums) {
    require(
        sums.shards == QuotaRows.SHARDS,
        "directory %d has %d shards instead of %d",
        id,
        sums.shards,
        QuotaRows.SHARDS);
    require(
        sums.names == sums.keptNames && sums.bytes == sums.keptBytes,
        "directory %d is said to hold %d names and %d bytes, but holds %d and %d",
        id,
        sums.keptNames,
        sums.keptBytes,
        sums.names,
        sums.bytes);
    require(
        sums.deleted == sums.keptDeleted,
        "directory %d is said to hold %d pending deletions, but holds %d",
        id,
        sums.keptDeleted,
        sums.deleted);
    require(
        !sums.limits.hasNames()
            || sums.nameCredit <= Math.max(0, sums.limits.getNames() - sums.names),
        "directory %d has a credit of %d names, but holds %d of %d",
        id,
        sums.nameCredit,
        sums.names,
        sums.limits.getNames());
    require(
        !sums.limits.hasBytes()
            || sums.byteCredit <= Math.max(0, sums.limits.getBytes() - sums.bytes),
        "directory %d has a credit of %d bytes, but holds %d of %d",
        id,
        sums.byteCredit,
        sums.bytes,
        sums.limits.getBytes());
  }
}
