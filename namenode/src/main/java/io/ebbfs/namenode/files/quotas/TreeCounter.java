package io.ebbfs.namenode.files.quotas;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.inodes.UncountedTreeException;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.ipc.RetriableException;

/**
 * Has everything in a directory counted, in small transactions, while clients change the tree. It
 * marks inode by inode, from the directory downwards, and the store moves each inode to the sums of
 * the directory in the transaction that marks it. What clients make meanwhile takes the mark of its
 * directory. So each inode counts once at any moment. A walk that was broken off begins anew, and
 * passes over what has its mark. One for each namenode, because it bounds the walks. Thread-safe.
 */
public final class TreeCounter {
  private static final int PAGE = 200;
  private static final int MOST_ROUNDS = 100;

  /**
   * A walk holds the thread of its call for as long as the tree is large, and heartbeats need
   * threads of the same pool. So a further walk is refused, and the client repeats the call. A
   * directory that one transaction marks needs no walk.
   */
  static final int MOST_WALKS = 2;

  private final MetadataStore store;
  // The directories that each walk of this namenode counts; guarded by itself.
  private final Set<Set<Long>> walks = Collections.newSetFromMap(new IdentityHashMap<>());

  public TreeCounter(MetadataStore store) {
    this.store = store;
  }

  /**
   * Runs a change, and has trees counted that it moves between counted directories.
   *
   * @throws IOException from the change
   */
  public <R> R countingFirst(OptimisticTransactions.Attempt<R> change) throws IOException {
    UncountedTreeException last = null;
    for (int round = 0; round < MOST_ROUNDS; round++) {
      try {
        return change.run();
      } catch (UncountedTreeException e) {
        count(e.directoryId(), e.types());
        last = e;
      }
    }
    throw new IOException(
        "gave up after %d attempts, because other clients move the same directory: %s; try again"
            .formatted(MOST_ROUNDS, last.getMessage()));
  }

  /**
   * Has a directory counted with everything in it. Returns at once if it is. A directory that is
   * removed meanwhile is left as it is.
   *
   * @param types whether bytes must count by type of storage, too; where they do so already, they
   *     go on doing so
   * @throws RetriableException if the directory has other directories in it, or more than a few
   *     entries, and {@link #MOST_WALKS} other calls count trees, or one of them counts this tree.
   *     A stock client that knows several namenodes repeats its call, and one of a single namenode
   *     fails
   */
  public void count(long directoryId, boolean types) throws IOException {
    if (isWhole(directoryId, types)) {
      return;
    }
    NonBlocking.beforeWait(); // the tree may be large
    StoreFormat.raiseToQuotas(store);
    if (types) {
      StoreFormat.raiseToTypeQuotas(store);
    }
    if (isSmall(page(new Visit(directoryId))) && countSmall(directoryId, types)) {
      return;
    }
    Set<Long> begun = new HashSet<>();
    try {
      count(directoryId, types, begun);
    } finally {
      leave(begun);
    }
  }

  /**
   * Visits everything in a counted directory once more, and has counted there what counts
   * elsewhere. The limits of the directory hold meanwhile.
   *
   * @throws IOException as {@link #count}, or if a limit is exceeded
   */
  public void countAgain(long directoryId) throws IOException {
    Set<Long> begun = new HashSet<>();
    try {
      if (enter(directoryId, begun)) {
        walk(directoryId, begun);
      }
    } finally {
      leave(begun);
    }
  }

  private void leave(Set<Long> begun) {
    synchronized (walks) {
      walks.remove(begun);
    }
  }

  private boolean isWhole(long directoryId, boolean types) throws IOException {
    return store.transact(
        directoryId,
        Durability.RELAXED,
        transaction -> QuotaMarks.isWhole(transaction, directoryId, types));
  }

  /**
   * Notes that a walk counts a directory.
   *
   * @return false if the walk has begun with the directory already
   */
  private boolean enter(long directoryId, Set<Long> begun) throws RetriableException {
    synchronized (walks) {
      boolean isNew = !walks.contains(begun);
      boolean isTaken =
          walks.stream().anyMatch(walk -> walk != begun && walk.contains(directoryId));
      if (isTaken || isNew && walks.size() >= MOST_WALKS) {
        throw new RetriableException(
            "directory %d must be counted for a quota, and this namenode is counting %s already: repeat the call"
                .formatted(directoryId, isTaken ? "it" : MOST_WALKS + " other trees"));
      }
      walks.add(begun);
      return begun.add(directoryId);
    }
  }

  /**
   * A counted directory in the tree may itself not be counted as a whole yet. Then the walk counts
   * it as well.
   *
   * @param types whether bytes must count by type of storage, too
   * @param begun the directories that this thread has begun to count
   */
  private void count(long directoryId, boolean types, Set<Long> begun) throws IOException {
    if (!enter(directoryId, begun)) {
      return;
    }
    Begun walked = begin(directoryId, types);
    if (walked != Begun.NOTHING) {
      walk(directoryId, begun);
      end(directoryId, walked);
    }
  }

  /** Whether the first entries of a directory are all it has, and none of them is a directory. */
  private static boolean isSmall(List<Inode> firstPage) {
    return firstPage.size() < PAGE && firstPage.stream().noneMatch(Inode::isDirectory);
  }

  /**
   * Has a directory counted that was small a moment ago. No place among the walks is taken, and
   * several calls may do so at once: marking twice does nothing more.
   *
   * @return false if the directory is not small any more, and must be walked
   */
  private boolean countSmall(long directoryId, boolean types) throws IOException {
    Begun begun = begin(directoryId, types);
    if (begun == Begun.NOTHING) {
      return true;
    }
    List<Inode> page = page(new Visit(directoryId));
    if (!isSmall(page)) {
      return false;
    }
    if (!page.isEmpty() && !mark(directoryId, directoryId, page).isEmpty()) {
      return false;
    }
    end(directoryId, begun);
    return true;
  }

  /** Notes that everything in a directory is counted. */
  private void end(long directoryId, Begun walked) throws IOException {
    OptimisticTransactions.transact(
        store,
        directoryId,
        transaction -> {
          if (QuotaRows.totals(transaction, directoryId).isPresent()) {
            QuotaRows.complete(transaction, directoryId, walked == Begun.WITH_TYPES);
          }
          return null;
        });
  }

  /** What a walk has to do. */
  private enum Begun {
    /** All of the directory is counted, or it does not exist. */
    NOTHING,
    BYTES,
    /** Bytes count by type of storage, too. */
    WITH_TYPES
  }

  /** Makes a directory one that is counted. */
  private Begun begin(long directoryId, boolean types) throws IOException {
    return OptimisticTransactions.transact(
        store,
        directoryId,
        transaction -> {
          Optional<Inode> found = lockToBegin(transaction, directoryId);
          if (found.isEmpty()) {
            return Begun.NOTHING;
          }
          Inode directory = found.get();
          boolean ofTypes = types || directory.row().getCountedTypes();
          InodeRow.Builder begun = directory.row().toBuilder().setCounted(true);
          if (ofTypes) {
            begun.setCountedTypes(true);
          }
          boolean isBegun = begun.build().equals(directory.row());
          if (isBegun && QuotaMarks.isWhole(transaction, directoryId, ofTypes)) {
            return Begun.NOTHING;
          }
          if (!isBegun) {
            transaction.put(Tables.INODE, directory.key(), begun.build());
          }
          return ofTypes ? Begun.WITH_TYPES : Begun.BYTES;
        });
  }

  /**
   * A directory that is counted from now on is locked together with its name row. That orders the
   * transaction after each one that has made an entry under the old mark: see {@link
   * io.ebbfs.namenode.files.inodes.EmptyDirectory}.
   */
  private static Optional<Inode> lockToBegin(Transaction transaction, long directoryId)
      throws IOException {
    Optional<Key> key = place(transaction, directoryId);
    if (key.isEmpty()) {
      return Optional.empty();
    }
    transaction.lock(
        List.of(
            RowLock.exclusive(Tables.INODE, key.get()),
            RowLock.exclusive(Tables.INODE_NAME, Tables.inodeName(directoryId))));
    return inode(transaction, key.get(), directoryId);
  }

  /**
   * Where a directory is; empty if it is deleted. The directories above are not asked: one that has
   * just moved out of a deleted directory would seem to be deleted.
   */
  private static Optional<Key> place(Transaction transaction, long directoryId) throws IOException {
    return transaction
        .get(Tables.INODE_NAME, Tables.inodeName(directoryId))
        .filter(name -> name.getParentId() != Inode.PENDING_DELETION_ID)
        .map(name -> Tables.inode(name.getParentId(), name.getName().toByteArray()));
  }

  private static Optional<Inode> inode(Transaction transaction, Key key, long id)
      throws IOException {
    Optional<Inode> inode = PathResolver.inodeAt(transaction, key);
    if (inode.filter(found -> found.id() == id).isEmpty()) {
      throw new StaleReadException("directory " + id + " moved");
    }
    return inode;
  }

  /** A directory on the way, and how far its entries are visited. */
  private static final class Visit {
    private final long directoryId;
    private Key after;
    private boolean ended;
    private Iterator<Long> below = Collections.emptyIterator();

    private Visit(long directoryId) {
      this.directoryId = directoryId;
    }
  }

  /** Keeps one page of each directory on the way from the top. */
  private void walk(long top, Set<Long> begun) throws IOException {
    Deque<Visit> way = new ArrayDeque<>();
    way.push(new Visit(top));
    while (!way.isEmpty()) {
      Visit visit = way.peek();
      if (visit.below.hasNext()) {
        way.push(new Visit(visit.below.next()));
      } else if (visit.ended) {
        way.pop();
      } else {
        List<Inode> page = page(visit);
        visit.ended = page.size() < PAGE;
        if (!page.isEmpty()) {
          visit.after = page.get(page.size() - 1).key();
          Found found = mark(top, visit.directoryId, page);
          visit.below = found.below().iterator();
          for (long counted : found.counted()) {
            count(counted, found.types(), begun);
          }
        }
      }
    }
  }

  private List<Inode> page(Visit visit) throws IOException {
    return store
        .transactInBackground(
            visit.directoryId,
            transaction -> transaction.scan(Tables.INODE, visit.directoryId, visit.after, PAGE))
        .stream()
        .map(row -> new Inode(row.key(), row.value()))
        .toList();
  }

  /**
   * Directories that are still to be visited.
   *
   * @param counted those that are counted by themselves
   * @param types whether bytes in the latter must count by type of storage, too
   */
  private record Found(List<Long> below, List<Long> counted, boolean types) {
    private boolean isEmpty() {
      return below.isEmpty() && counted.isEmpty();
    }
  }

  /** Marks entries of a directory. */
  private Found mark(long top, long directoryId, List<Inode> entries) throws IOException {
    return OptimisticTransactions.transact(
        store,
        directoryId,
        Durability.RELAXED,
        transaction -> {
          Optional<Inode> directory = lock(transaction, directoryId, entries);
          if (directory.isEmpty()) {
            return new Found(List.of(), List.of(), false); // it was removed
          }
          long home = QuotaMarks.homeOfEntries(directory.get().row());
          if (home != top) {
            return new Found(List.of(), List.of(home), false); // somebody else counts it
          }
          boolean types = directory.get().row().getCountedTypes();
          Found found = new Found(new ArrayList<>(), new ArrayList<>(), types);
          for (Inode entry : lockToCount(transaction, entries)) {
            mark(transaction, entry, directory.get().row());
            if (entry.isDirectory()) {
              boolean isCounted =
                  entry.row().getCounted() || types && entry.row().hasStoragePolicy();
              (isCounted ? found.counted() : found.below()).add(entry.id());
            }
          }
          return found;
        });
  }

  /** Locks entries, and their directory so that nobody moves it. */
  private static Optional<Inode> lock(
      Transaction transaction, long directoryId, List<Inode> entries) throws IOException {
    Optional<Key> key = place(transaction, directoryId);
    if (key.isEmpty()) {
      return Optional.empty();
    }
    List<RowLock> locks = new ArrayList<>();
    locks.add(RowLock.shared(Tables.INODE, key.get()));
    for (Inode entry : entries) {
      locks.add(RowLock.exclusive(Tables.INODE, entry.key()));
      if (entry.isDirectory()) {
        locks.add(RowLock.exclusive(Tables.INODE_NAME, Tables.inodeName(entry.id())));
      }
    }
    transaction.lock(locks);
    return inode(transaction, key.get(), directoryId);
  }

  /** The locked entries that are still there, with the locks of what counts in them. */
  private static List<Inode> lockToCount(Transaction transaction, List<Inode> entries)
      throws IOException {
    List<Inode> present = new ArrayList<>();
    List<RowLock> locks = new ArrayList<>();
    for (Inode seen : entries) {
      Optional<Inode> entry = PathResolver.inodeAt(transaction, seen.key());
      if (entry.isPresent()) {
        present.add(entry.get());
        locks.addAll(QuotaMarks.locksToCount(entry.get().row()));
      }
    }
    if (!locks.isEmpty()) {
      transaction.lock(locks);
    }
    return present;
  }

  private static void mark(Transaction transaction, Inode entry, InodeRow directory)
      throws IOException {
    InodeRow marked = QuotaMarks.counting(transaction, entry.row(), directory);
    if (!marked.equals(entry.row())) {
      transaction.put(Tables.INODE, entry.key(), marked);
    }
  }
}
