package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Locks files, stripes and transitions by id, in one call and in the total order.
 *
 * <p>The lock of a file is the lock of its place in the tree, and a rename changes that place. So
 * each call looks up the places, locks them and looks them up again. Run the transaction with
 * {@link OptimisticTransactions}. Stateless.
 */
public final class OwnerLocks {
  private OwnerLocks() {}

  /**
   * Locks the rows for writing. Ids of files that do not exist are passed over.
   *
   * @throws StaleReadException if a file was renamed or deleted between look-up and lock
   */
  public static void lock(
      Transaction transaction,
      Collection<Long> fileIds,
      Collection<Long> stripeIds,
      Collection<Long> transitionIds)
      throws IOException {
    Map<Long, InodeNameRow> names = names(transaction, fileIds);
    List<RowLock> locks = new ArrayList<>();
    names.values().forEach(name -> locks.add(RowLock.exclusive(Tables.INODE, place(name))));
    stripeIds.stream()
        .distinct()
        .forEach(id -> locks.add(RowLock.exclusive(Tables.STRIPE, Tables.stripe(id))));
    transitionIds.stream()
        .distinct()
        .forEach(id -> locks.add(RowLock.exclusive(Tables.TRANSITION, Tables.transition(id))));
    transaction.lock(locks);
    checkUnchanged(names, names(transaction, fileIds));
  }

  /**
   * Locks owners of blocks. An owner is a file if its id has a name, and a stripe if not.
   *
   * @throws StaleReadException if a file was renamed or deleted between look-up and lock
   */
  public static void lockOwners(
      Transaction transaction, Collection<Long> ownerIds, RowLock.Mode mode) throws IOException {
    Map<Long, InodeNameRow> names = names(transaction, ownerIds);
    List<RowLock> locks = new ArrayList<>();
    ownerIds.stream()
        .distinct()
        .forEach(
            id ->
                locks.add(
                    names.containsKey(id)
                        ? new RowLock(Tables.INODE, place(names.get(id)), mode)
                        : new RowLock(Tables.STRIPE, Tables.stripe(id), mode)));
    transaction.lock(locks);
    checkUnchanged(names, names(transaction, ownerIds));
  }

  private static Key place(InodeNameRow name) {
    return Tables.inode(name.getParentId(), name.getName().toByteArray());
  }

  private static void checkUnchanged(Map<Long, InodeNameRow> before, Map<Long, InodeNameRow> now)
      throws StaleReadException {
    if (!before.equals(now)) {
      throw new StaleReadException(
          "one of the files %s was renamed or deleted meanwhile".formatted(before.keySet()));
    }
  }

  private static Map<Long, InodeNameRow> names(Transaction transaction, Collection<Long> fileIds)
      throws IOException {
    List<Long> ids = fileIds.stream().distinct().toList();
    List<Optional<InodeNameRow>> rows =
        transaction.getAll(Tables.INODE_NAME, ids.stream().map(Tables::inodeName).toList());
    Map<Long, InodeNameRow> names = new TreeMap<>();
    for (int i = 0; i < ids.size(); i++) {
      Optional<InodeNameRow> row = rows.get(i);
      if (row.isPresent()) {
        names.put(ids.get(i), row.get());
      }
    }
    return names;
  }
}
