package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.DSQuotaExceededException;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;

/**
 * Keeps the sums of counted directories, and refuses what would exceed a limit. Each inode row says
 * in which directory the inode counts; the inode counts in all counted directories above that one,
 * too. The ledger compares the inode rows that a transaction writes with the rows as they were, and
 * adds the differences to the sums in the same commit. So the sums are those of the rows at any
 * moment, and no operation has to remember them.
 *
 * <p>A transaction adds to one shard of each directory ({@link QuotaRows}). A directory with limits
 * gives each shard a credit. A transaction whose shard has too little credit locks all shards,
 * compares the sums with the limits, and shares what is left among the shards anew. What is taken
 * away from the sums is not added to a credit, so the credits are never more than what is left.
 *
 * <p>One ledger settles one transaction.
 */
final class QuotaLedger {
  private static final long PROCESS = ThreadLocalRandom.current().nextLong();
  private static final long NOWHERE = 0;
  private static final int MAX_DEPTH = 10_000;

  private final Transaction transaction;
  private final BufferedTransaction buffered;
  private final QuotaChanges changes;
  // Spreads threads and processes over the shards.
  private final int shard =
      Math.floorMod(PROCESS + Thread.currentThread().getId(), QuotaRows.SHARDS);
  private final Map<Long, Optional<QuotaRow>> seen = new HashMap<>();
  private final Map<Long, Delta> deltas = new LinkedHashMap<>();
  private final Set<Long> whole = new HashSet<>();
  private final List<Move> moves = new ArrayList<>();

  /** By how much the sums of a directory change. */
  private static final class Delta {
    private long names;
    private long bytes;
    private long deleted;
    // The part that is added, also where as much is taken away.
    private long newNames;
    private long newBytes;
    // The part of the bytes for which no limit is asked.
    private long unlimitedBytes;

    private void add(long moreNames, long moreBytes, long moreDeleted) {
      names += moreNames;
      bytes += moreBytes;
      deleted += moreDeleted;
      newNames += Math.max(0, moreNames);
      newBytes += Math.max(0, moreBytes);
    }
  }

  /** A counted directory that leaves a counted directory above it, or enters one, or is removed. */
  private record Move(
      long directoryId, List<Long> from, List<Long> to, long parent, boolean gone) {}

  private QuotaLedger(Transaction transaction, BufferedTransaction buffered, QuotaChanges changes) {
    this.transaction = transaction;
    this.buffered = buffered;
    this.changes = changes;
  }

  /**
   * Adds changes to the sums of counted directories.
   *
   * @param transaction as its body sees it
   * @param buffered the same, for the rows as they were before it
   * @throws QuotaExceededException if a limit would be exceeded; nothing must be committed
   * @throws StaleReadException if the rows have changed meanwhile
   */
  static void settle(Transaction transaction, BufferedTransaction buffered, QuotaChanges changes)
      throws IOException {
    if (!changes.isEmpty()) {
      new QuotaLedger(transaction, buffered, changes).settle();
    }
  }

  private void settle() throws IOException {
    for (QuotaChanges.Sides inode : changes.inodes()) {
      add(inode);
    }
    for (Move move : moves) {
      changed(move).forEach(this::lockWhole);
    }
    deltas.forEach(this::lockWholeWithoutCredit);
    lockAll();
    for (Move move : moves) {
      move(move);
    }
    for (Map.Entry<Long, Delta> entry : deltas.entrySet()) {
      if (whole.contains(entry.getKey())) {
        applyToAll(entry.getKey(), entry.getValue());
      } else {
        applyToOne(entry.getKey(), entry.getValue());
      }
    }
  }

  // ---- which sums change ------------------------------------------------------------------------

  private void add(QuotaChanges.Sides inode) throws IOException {
    InodeRow before = inode.before();
    InodeRow after = inode.after();
    if (inode.countsAsBefore()) {
      return;
    }
    boolean wasCounted = before != null && before.getCounted();
    boolean isCounted = after != null && after.getCounted();
    if (isCounted && !wasCounted) {
      makeShards(after);
    } else if (wasCounted && (!isCounted || before.getCountedIn() != after.getCountedIn())) {
      long parent = isCounted ? after.getCountedIn() : NOWHERE;
      moves.add(
          new Move(
              before.getId(), chain(before.getCountedIn()), chain(parent), parent, !isCounted));
    }
    if (isCounted || !wasCounted) { // else the sums go with their directory
      List<Long> left = chain(home(before));
      List<Long> entered = chain(home(after));
      long bytesBefore = before == null ? 0 : before.getCountedBytes();
      long bytesAfter = after == null ? 0 : after.getCountedBytes();
      for (long directoryId : union(entered, left)) {
        boolean was = left.contains(directoryId);
        boolean is = entered.contains(directoryId);
        long bytes = (is ? bytesAfter : 0) - (was ? bytesBefore : 0);
        long deleted = (is ? inode.deletedAfter() : 0) - (was ? inode.deletedBefore() : 0);
        if (was != is || bytes != 0 || deleted != 0) {
          delta(directoryId).add((is ? 1 : 0) - (was ? 1 : 0), bytes, deleted);
          delta(directoryId).unlimitedBytes += isBeingTruncated(before, after) ? bytes : 0;
        }
      }
    }
  }

  /**
   * Whether a truncation that has begun goes on. A block that is cut counts as a full block until
   * it is shorter. A limit would hold the truncation for ever if its first step needed no room,
   * because the block had to leave its stripe first.
   */
  private static boolean isBeingTruncated(InodeRow before, InodeRow after) {
    return before != null
        && after != null
        && before.getUnderConstruction().hasTruncatedLengthBytes()
        && after.getUnderConstruction().hasTruncatedLengthBytes();
  }

  private static long home(InodeRow row) {
    if (row == null) {
      return NOWHERE;
    }
    return row.getCounted() ? row.getId() : row.getCountedIn();
  }

  private Delta delta(long directoryId) {
    return deltas.computeIfAbsent(directoryId, id -> new Delta());
  }

  private static Set<Long> union(List<Long> some, List<Long> others) {
    Set<Long> all = new LinkedHashSet<>(some);
    all.addAll(others);
    return all;
  }

  /** The directories whose sums a move changes: those above both places stay as they are. */
  private static Set<Long> changed(Move move) {
    Set<Long> changed = union(move.to(), move.from());
    changed.removeIf(id -> move.to().contains(id) && move.from().contains(id));
    return changed;
  }

  /** A directory begins to be counted: its shards hold nothing yet. */
  private void makeShards(InodeRow directory) {
    QuotaRow.Builder empty = QuotaRow.newBuilder().setNames(0).setBytes(0).setDeleted(0);
    if (directory.hasCountedIn()) {
      empty.setCountedIn(directory.getCountedIn());
    }
    for (Key key : QuotaRows.keys(directory.getId())) {
      transaction.put(Tables.QUOTA, key, empty.build());
    }
  }

  /**
   * The counted directories from one upwards. What is left of a removed directory counts nowhere,
   * so a chain may end at an id without rows.
   */
  private List<Long> chain(long directoryId) throws IOException {
    List<Long> chain = new ArrayList<>();
    long id = directoryId;
    while (id != NOWHERE) {
      Optional<QuotaRow> row = seen(id);
      if (row.isEmpty()) {
        break;
      }
      if (chain.size() > MAX_DEPTH) {
        throw new IOException(
            "directory " + id + " counts in itself: the table quota is damaged; check the store");
      }
      chain.add(id);
      id = row.get().getCountedIn();
    }
    return chain;
  }

  private Optional<QuotaRow> seen(long directoryId) throws IOException {
    Optional<QuotaRow> row = seen.get(directoryId);
    if (row == null) {
      row = transaction.get(Tables.QUOTA, Tables.quota(directoryId, shard));
      seen.put(directoryId, row);
    }
    return row;
  }

  // ---- locks ------------------------------------------------------------------------------------

  private void lockWhole(long directoryId) {
    whole.add(directoryId);
    delta(directoryId);
  }

  private void lockWholeWithoutCredit(long directoryId, Delta delta) {
    QuotaRow row = seen.get(directoryId).orElseThrow();
    if (!hasCredit(row, delta)) {
      whole.add(directoryId);
    }
  }

  private static boolean hasCredit(QuotaRow row, Delta delta) {
    return (delta.newNames == 0 || !row.hasNameCredit() || row.getNameCredit() >= delta.newNames)
        && (delta.newBytes == 0 || !row.hasByteCredit() || row.getByteCredit() >= delta.newBytes);
  }

  /** Locks all rows in one call, and checks that each directory counts where it was seen. */
  private void lockAll() throws IOException {
    List<RowLock> locks = new ArrayList<>();
    moves.forEach(move -> locks.addAll(QuotaRows.locks(move.directoryId())));
    for (long directoryId : deltas.keySet()) {
      if (whole.contains(directoryId)) {
        locks.addAll(QuotaRows.locks(directoryId));
      } else {
        locks.add(RowLock.exclusive(Tables.QUOTA, Tables.quota(directoryId, shard)));
      }
    }
    if (locks.isEmpty()) {
      return;
    }
    transaction.lock(locks);
    for (long directoryId : deltas.keySet()) {
      Optional<QuotaRow> now = transaction.get(Tables.QUOTA, Tables.quota(directoryId, shard));
      if (now.isEmpty() || now.get().getCountedIn() != seen.get(directoryId).get().getCountedIn()) {
        throw stale(directoryId);
      }
    }
  }

  private static StaleReadException stale(long directoryId) {
    return new StaleReadException("the sums of directory " + directoryId + " have moved");
  }

  // ---- the new sums -----------------------------------------------------------------------------

  private void move(Move move) throws IOException {
    List<QuotaRow> shards = QuotaRows.read(transaction, move.directoryId());
    if (shards.isEmpty()) {
      throw stale(move.directoryId());
    }
    QuotaRows.Totals moved = QuotaRows.Totals.of(shards);
    for (long directoryId : changed(move)) {
      int sign = move.to().contains(directoryId) ? 1 : -1;
      delta(directoryId).add(sign * moved.names(), sign * moved.bytes(), sign * moved.deleted());
    }
    for (int i = 0; i < shards.size(); i++) {
      Key key = Tables.quota(move.directoryId(), i);
      if (move.gone()) {
        transaction.delete(Tables.QUOTA, key);
      } else {
        QuotaRow.Builder row = shards.get(i).toBuilder().clearCountedIn();
        if (move.parent() != NOWHERE) {
          row.setCountedIn(move.parent());
        }
        transaction.put(Tables.QUOTA, key, row.build());
      }
    }
  }

  private void applyToOne(long directoryId, Delta delta) throws IOException {
    Key key = Tables.quota(directoryId, shard);
    QuotaRow row = transaction.get(Tables.QUOTA, key).orElseThrow(() -> stale(directoryId));
    if (!hasCredit(row, delta)) {
      throw stale(directoryId); // the next run locks all shards
    }
    QuotaRow.Builder changed = plus(row, delta).toBuilder();
    if (row.hasNameCredit()) {
      changed.setNameCredit(row.getNameCredit() - delta.newNames);
    }
    if (row.hasByteCredit()) {
      changed.setByteCredit(row.getByteCredit() - delta.newBytes);
    }
    transaction.put(Tables.QUOTA, key, changed.build());
  }

  private static QuotaRow plus(QuotaRow row, Delta delta) {
    return row.toBuilder()
        .setNames(row.getNames() + delta.names)
        .setBytes(row.getBytes() + delta.bytes)
        .setDeleted(row.getDeleted() + delta.deleted)
        .build();
  }

  private void applyToAll(long directoryId, Delta delta) throws IOException {
    List<QuotaRow> shards = new ArrayList<>(QuotaRows.read(transaction, directoryId));
    if (shards.isEmpty()) {
      throw stale(directoryId);
    }
    shards.set(shard, plus(shards.get(shard), delta));
    QuotaLimitsProto limits = shards.get(0).getLimits();
    check(directoryId, QuotaRows.Totals.of(shards), delta);
    QuotaRows.write(transaction, directoryId, QuotaRows.shareCredit(shards, limits));
  }

  /** Compares the sums with the limits, in the order in which HDFS does. */
  private void check(long directoryId, QuotaRows.Totals now, Delta delta) throws IOException {
    QuotaLimitsProto limits = now.limits();
    if (limits.hasNames() && now.names() > limits.getNames() && addsNames(delta)) {
      throw at(
          directoryId,
          new NSQuotaExceededException(limits.getNames(), reached(now, delta)),
          holdsDeleted(now, delta));
    }
    boolean addsBytes = delta.bytes - delta.unlimitedBytes > 0;
    if (addsBytes && limits.hasBytes() && now.bytes() > limits.getBytes()) {
      throw at(
          directoryId,
          new DSQuotaExceededException(limits.getBytes(), now.bytes()),
          holdsDeleted(now, delta));
    }
    OptionalLong ofDisks = QuotaRows.typeLimit(limits, QuotaRows.DISK);
    if (addsBytes && ofDisks.isPresent() && now.bytes() > ofDisks.getAsLong()) {
      throw at(
          directoryId,
          new QuotaByStorageTypeExceededException(
              ofDisks.getAsLong(), now.bytes(), StorageType.DISK),
          holdsDeleted(now, delta));
    }
  }

  /**
   * Whether pending deletions may still take room in a directory. Older versions did not count
   * them, so their number is unknown until each shard has one, and what they added or removed
   * beside this version leaves a number that is too low or too high for ever. Then a call waits if
   * anything at all is yet to be removed.
   */
  private boolean holdsDeleted(QuotaRows.Totals now, Delta delta) throws IOException {
    boolean isNone = now.deletedIsCounted() && now.deleted() == delta.deleted;
    return !isNone && !transaction.scan(Tables.INODE, Tables.PENDING_DELETIONS, null, 1).isEmpty();
  }

  /** HDFS adds one inode after the other, and names the first number that is too high. */
  private long reached(QuotaRows.Totals now, Delta delta) {
    return moves.isEmpty()
        ? Math.max(now.limits().getNames(), now.names() - delta.newNames) + 1
        : now.names();
  }

  /**
   * HDFS refuses a new file in the place of another one while there are too many names, but not a
   * file that was renamed to it.
   */
  private boolean addsNames(Delta delta) throws IOException {
    return delta.names > 0 || delta.newNames > 0 && makesInode();
  }

  private boolean makesInode() throws IOException {
    for (QuotaChanges.Sides inode : changes.inodes()) {
      if (inode.before() == null) {
        Key name = Tables.inodeName(inode.after().getId());
        if (buffered.committed(Tables.INODE_NAME, List.of(name)).get(0) == null) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * The refusal with the path of the directory.
   *
   * @param holdsDeleted whether a deleted directory, or what was in it, still counts there
   */
  private IOException at(long directoryId, QuotaExceededException exceeded, boolean holdsDeleted)
      throws IOException {
    StringBuilder path = new StringBuilder();
    long id = directoryId;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
      Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(id));
      if (name.isEmpty() || name.get().getName().isEmpty()) {
        break;
      }
      path.insert(0, "/" + name.get().getName().toString(StandardCharsets.UTF_8));
      id = name.get().getParentId();
    }
    exceeded.setPathName(path.isEmpty() ? "/" : path.toString());
    return holdsDeleted ? new DeletionsPendingException(exceeded) : exceeded;
  }
}
