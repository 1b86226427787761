package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.TransactionBody;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Locks on files by id, on stripes and transitions, in one call and in the total order. A file is
 * locked by its place in the tree, which a rename changes: what was looked up is looked up again
 * under the locks. Stateless.
 */
final class OwnerLocks {
  private static final int TRIES = 8;

  private OwnerLocks() {}

  /** Runs the body again as long as it finds rows changed, up to a limit. */
  static <R> R transact(MetadataStore store, long hint, TransactionBody<R> body)
      throws IOException {
    for (int tries = 1; ; tries++) {
      try {
        return store.transact(hint, body);
      } catch (ChangedMeanwhileException e) {
        if (tries == TRIES) {
          throw new IOException(
              "gave up after " + tries + " tries; try again: " + e.getMessage(), e);
        }
      }
    }
  }

  /**
   * Locks the rows; files that do not exist (any more) are passed over.
   *
   * @throws ChangedMeanwhileException if a file was renamed between look-up and lock
   */
  static void lock(
      Transaction transaction,
      Collection<Long> fileIds,
      Collection<Long> stripeIds,
      Collection<Long> transitionIds)
      throws IOException {
    Map<Long, InodeNameRow> names = names(transaction, fileIds);
    List<RowLock> locks = new ArrayList<>();
    names
        .values()
        .forEach(
            name ->
                locks.add(
                    RowLock.exclusive(
                        Tables.INODE,
                        Tables.inode(name.getParentId(), name.getName().toByteArray()))));
    stripeIds.stream()
        .distinct()
        .forEach(id -> locks.add(RowLock.exclusive(Tables.STRIPE, Tables.stripe(id))));
    transitionIds.stream()
        .distinct()
        .forEach(id -> locks.add(RowLock.exclusive(Tables.TRANSITION, Tables.transition(id))));
    transaction.lock(locks);
    Map<Long, InodeNameRow> again = names(transaction, fileIds);
    for (Map.Entry<Long, InodeNameRow> entry : again.entrySet()) {
      if (!entry.getValue().equals(names.get(entry.getKey()))) {
        throw new ChangedMeanwhileException("file " + entry.getKey() + " was renamed meanwhile");
      }
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
