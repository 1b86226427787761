package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private final Map<Long, Integer> effective = new HashMap<>();
  private final Map<Long, QuotaDelta> deltas = new LinkedHashMap<>();
  private final Set<Long> whole = new HashSet<>();
  private final List<Move> moves = new ArrayList<>();

  /**
   * A counted directory that leaves a counted directory above it, or enters one, or is removed, or
   * gets another storage policy where bytes count by type of storage.
   *
   * @param policies what the directory says above it to what has no policy from below: before the
   *     move and after it
   */
  private record Move(
      long directoryId,
      List<Long> from,
      List<Long> to,
      long parent,
      boolean gone,
      Policies policies) {}

  private record Policies(int before, int after) {}

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
      rekeyed(move).forEach(this::lockToRekey);
    }
    for (Map.Entry<Long, QuotaDelta> entry : deltas.entrySet()) {
      lockWholeWithoutCredit(entry.getKey(), entry.getValue());
    }
    lockAll();
    for (Move move : moves) {
      move(move);
    }
    for (Map.Entry<Long, QuotaDelta> entry : deltas.entrySet()) {
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
    } else if (wasCounted && (!isCounted || movesSums(before, after))) {
      long parent = isCounted ? after.getCountedIn() : NOWHERE;
      int kept = seen(before.getId()).map(QuotaRow::getPolicy).orElse(BytesByPolicy.FROM_ABOVE);
      moves.add(
          new Move(
              before.getId(),
              chain(before.getCountedIn()),
              chain(parent),
              parent,
              !isCounted,
              new Policies(kept, isCounted ? after.getStoragePolicy() : kept)));
    }
    if (isCounted || !wasCounted) { // else the sums go with their directory
      addToAll(inode);
    }
  }

  /**
   * Without types the shards keep the policy that they had. It is put right when the directory
   * begins to count by type.
   */
  private static boolean movesSums(InodeRow before, InodeRow after) {
    boolean hasNewPolicy =
        !before.getCountedTypes() || before.getStoragePolicy() != after.getStoragePolicy();
    return before.getCountedIn() != after.getCountedIn() || after.getCountedTypes() && hasNewPolicy;
  }

  private void addToAll(QuotaChanges.Sides inode) throws IOException {
    InodeRow before = inode.before();
    InodeRow after = inode.after();
    Map<Long, Integer> left = policies(chain(home(before)), ownPolicy(before));
    Map<Long, Integer> entered = policies(chain(home(after)), ownPolicy(after));
    long bytesBefore = before == null ? 0 : before.getCountedBytes();
    long bytesAfter = after == null ? 0 : after.getCountedBytes();
    for (long directoryId : union(entered.keySet(), left.keySet())) {
      boolean was = left.containsKey(directoryId);
      boolean is = entered.containsKey(directoryId);
      long bytes = (is ? bytesAfter : 0) - (was ? bytesBefore : 0);
      long deleted = (is ? inode.deletedAfter() : 0) - (was ? inode.deletedBefore() : 0);
      BytesByPolicy policies = new BytesByPolicy();
      if (was) {
        policies.add(before, left.get(directoryId), -1);
      }
      if (is) {
        policies.add(after, entered.get(directoryId), 1);
      }
      if (was != is || bytes != 0 || deleted != 0 || !policies.isEmpty()) {
        QuotaDelta delta = delta(directoryId);
        delta.add((is ? 1 : 0) - (was ? 1 : 0), bytes, deleted);
        delta.doNotLimit(isBeingTruncated(before, after) ? bytes : 0);
        boolean hasOtherTypes = was && is && hasOtherTypes(inode, left, entered, directoryId);
        delta.add(policies, !hasOtherTypes && !isBeingTruncated(before, after));
      }
    }
  }

  /**
   * Whether the bytes of an inode that stays in a directory begin to count on other types of
   * storage. As in HDFS, no limit refuses that.
   */
  private static boolean hasOtherTypes(
      QuotaChanges.Sides inode,
      Map<Long, Integer> left,
      Map<Long, Integer> entered,
      long directoryId) {
    return !left.get(directoryId).equals(entered.get(directoryId))
        || inode.before().getCountedTypes() != inode.after().getCountedTypes();
  }

  private static int ownPolicy(InodeRow row) {
    boolean isOfFile = row != null && row.getKind() == InodeKindProto.FILE;
    return isOfFile ? row.getStoragePolicy() : BytesByPolicy.FROM_ABOVE;
  }

  /** The directories of a chain, with the policy that something in the first one has from below. */
  private Map<Long, Integer> policies(List<Long> chain, int policy) throws IOException {
    Map<Long, Integer> policies = new LinkedHashMap<>();
    int known = policy;
    for (long directoryId : chain) {
      policies.put(directoryId, known);
      if (known == BytesByPolicy.FROM_ABOVE) {
        known = seen(directoryId).orElseThrow().getPolicy();
      }
    }
    return policies;
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

  private QuotaDelta delta(long directoryId) {
    return deltas.computeIfAbsent(directoryId, id -> new QuotaDelta());
  }

  private static Set<Long> union(Collection<Long> some, Collection<Long> others) {
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

  /** The directories above both places that learn another policy of what moves. */
  private Set<Long> rekeyed(Move move) throws IOException {
    Map<Long, Integer> before = policies(move.from(), move.policies().before());
    Map<Long, Integer> after = policies(move.to(), move.policies().after());
    Set<Long> rekeyed = new LinkedHashSet<>(before.keySet());
    rekeyed.retainAll(after.keySet());
    rekeyed.removeIf(id -> before.get(id).equals(after.get(id)));
    return rekeyed;
  }

  /** A directory begins to be counted: its shards hold nothing yet. */
  private void makeShards(InodeRow directory) {
    QuotaRow.Builder empty = QuotaRow.newBuilder().setNames(0).setBytes(0).setDeleted(0);
    if (directory.hasCountedIn()) {
      empty.setCountedIn(directory.getCountedIn());
    }
    if (directory.hasStoragePolicy()) {
      empty.setPolicy(directory.getStoragePolicy());
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

  /** How much moves is not known yet, so it may be more than a credit. */
  private void lockToRekey(long directoryId) {
    if (seen.get(directoryId).orElseThrow().getTypeCreditsCount() > 0) {
      whole.add(directoryId);
    }
    delta(directoryId);
  }

  private void lockWholeWithoutCredit(long directoryId, QuotaDelta delta) throws IOException {
    QuotaRow row = seen.get(directoryId).orElseThrow();
    if (!hasCredit(directoryId, row, delta)) {
      whole.add(directoryId);
    }
  }

  private boolean hasCredit(long directoryId, QuotaRow row, QuotaDelta delta) throws IOException {
    return delta.hasCredit(row)
        && (!delta.needsTypeCredit(row) || delta.hasTypeCredit(row, effective(directoryId)));
  }

  private static StorageType type(TypeLimitProto limit) {
    return StorageType.valueOf(limit.getType());
  }

  /** The storage policy that holds for a directory, read once. */
  private int effective(long directoryId) throws IOException {
    Integer known = effective.get(directoryId);
    if (known == null) {
      known = EffectivePolicy.idOf(transaction, directoryId);
      effective.put(directoryId, known);
    }
    return known;
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
      if (now.isEmpty() || !isAsSeen(directoryId, now.get())) {
        throw stale(directoryId);
      }
    }
  }

  private boolean isAsSeen(long directoryId, QuotaRow now) {
    QuotaRow before = seen.get(directoryId).orElseThrow();
    return now.getCountedIn() == before.getCountedIn() && now.getPolicy() == before.getPolicy();
  }

  private static StaleReadException stale(long directoryId) {
    return new StaleReadException("the sums of directory " + directoryId + " have moved");
  }

  // ---- the new sums -----------------------------------------------------------------------------

  private void move(Move move) throws IOException {
    List<QuotaRow> shards = QuotaRows.read(transaction, move.directoryId());
    if (shards.isEmpty() || shards.get(0).getPolicy() != move.policies().before()) {
      throw stale(move.directoryId());
    }
    QuotaRows.Totals moved = QuotaRows.Totals.of(shards);
    for (long directoryId : changed(move)) {
      int sign = move.to().contains(directoryId) ? 1 : -1;
      delta(directoryId).add(sign * moved.names(), sign * moved.bytes(), sign * moved.deleted());
    }
    movePolicies(move, moved.policies());
    for (int i = 0; i < shards.size(); i++) {
      Key key = Tables.quota(move.directoryId(), i);
      if (move.gone()) {
        transaction.delete(Tables.QUOTA, key);
      } else {
        QuotaRow.Builder row = shards.get(i).toBuilder().clearCountedIn().clearPolicy();
        if (move.parent() != NOWHERE) {
          row.setCountedIn(move.parent());
        }
        if (move.policies().after() != BytesByPolicy.FROM_ABOVE) {
          row.setPolicy(move.policies().after());
        }
        transaction.put(Tables.QUOTA, key, row.build());
      }
    }
  }

  private void movePolicies(Move move, BytesByPolicy moved) throws IOException {
    Map<Long, Integer> before = policies(move.from(), move.policies().before());
    Map<Long, Integer> after = policies(move.to(), move.policies().after());
    for (long directoryId : union(after.keySet(), before.keySet())) {
      BytesByPolicy more = new BytesByPolicy();
      if (before.containsKey(directoryId)) {
        more.add(moved, before.get(directoryId), -1);
      }
      if (after.containsKey(directoryId)) {
        more.add(moved, after.get(directoryId), 1);
      }
      if (!more.isEmpty()) {
        delta(directoryId).add(more, !before.containsKey(directoryId));
      }
    }
  }

  private void applyToOne(long directoryId, QuotaDelta delta) throws IOException {
    Key key = Tables.quota(directoryId, shard);
    QuotaRow row = transaction.get(Tables.QUOTA, key).orElseThrow(() -> stale(directoryId));
    if (!hasCredit(directoryId, row, delta)) {
      throw stale(directoryId); // the next run locks all shards
    }
    QuotaRow.Builder changed = delta.addedTo(row);
    delta.takeCredit(changed);
    if (delta.needsTypeCredit(row)) {
      delta.takeTypeCredit(changed, effective(directoryId));
    }
    transaction.put(Tables.QUOTA, key, changed.build());
  }

  private void applyToAll(long directoryId, QuotaDelta delta) throws IOException {
    List<QuotaRow> shards = new ArrayList<>(QuotaRows.read(transaction, directoryId));
    if (shards.isEmpty()) {
      throw stale(directoryId);
    }
    shards.set(shard, delta.addedTo(shards.get(shard)).build());
    check(directoryId, QuotaRows.Totals.of(shards), delta);
    List<QuotaRow> shared =
        shards.get(shard).getTypeCreditsCount() == 0
            ? QuotaRows.shareCredit(transaction, directoryId, shards)
            : QuotaRows.shareCredit(shards, effective(directoryId));
    QuotaRows.write(transaction, directoryId, shared);
  }

  /** Compares the sums with the limits, in the order in which HDFS does. */
  private void check(long directoryId, QuotaRows.Totals now, QuotaDelta delta) throws IOException {
    QuotaLimitsProto limits = now.limits();
    if (limits.hasNames() && now.names() > limits.getNames() && addsNames(delta)) {
      throw at(
          directoryId,
          new NSQuotaExceededException(limits.getNames(), reached(now, delta)),
          holdsDeleted(now, delta));
    }
    boolean addsBytes = delta.limitedBytes() > 0;
    if (addsBytes && limits.hasBytes() && now.bytes() > limits.getBytes()) {
      throw at(
          directoryId,
          new DSQuotaExceededException(limits.getBytes(), now.bytes()),
          holdsDeleted(now, delta));
    }
    List<TypeLimitProto> ofTypes = new ArrayList<>(limits.getTypesList());
    ofTypes.sort(Comparator.comparing(QuotaLedger::type));
    for (TypeLimitProto limit : ofTypes) {
      checkType(directoryId, limit, now, delta);
    }
  }

  private void checkType(
      long directoryId, TypeLimitProto limit, QuotaRows.Totals now, QuotaDelta delta)
      throws IOException {
    int policy = effective(directoryId);
    boolean adds =
        now.typesComplete()
            ? delta.limitedTypes(policy).getOrDefault(type(limit), 0L) > 0
            : delta.limitedBytes() > 0;
    long used = now.types(policy).getOrDefault(type(limit), 0L);
    if (adds && used > limit.getBytes()) {
      throw at(
          directoryId,
          new QuotaByStorageTypeExceededException(limit.getBytes(), used, type(limit)),
          holdsDeleted(now, delta));
    }
  }

  /**
   * Whether pending deletions may still take room in a directory. Older versions did not count
   * them, so their number is unknown until each shard has one, and what they added or removed
   * beside this version leaves a number that is too low or too high for ever. Then a call waits if
   * anything at all is yet to be removed.
   */
  private boolean holdsDeleted(QuotaRows.Totals now, QuotaDelta delta) throws IOException {
    boolean isNone = now.deletedIsCounted() && now.deleted() == delta.deleted();
    return !isNone && !transaction.scan(Tables.INODE, Tables.PENDING_DELETIONS, null, 1).isEmpty();
  }

  /** HDFS adds one inode after the other, and names the first number that is too high. */
  private long reached(QuotaRows.Totals now, QuotaDelta delta) {
    return moves.isEmpty()
        ? Math.max(now.limits().getNames(), now.names() - delta.newNames()) + 1
        : now.names();
  }

  /**
   * HDFS refuses a new file in the place of another one while there are too many names, but not a
   * file that was renamed to it.
   */
  private boolean addsNames(QuotaDelta delta) throws IOException {
    return delta.names() > 0 || delta.newNames() > 0 && makesInode();
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
