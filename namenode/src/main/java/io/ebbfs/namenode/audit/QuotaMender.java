package io.ebbfs.namenode.audit;

import io.ebbfs.namenode.audit.QuotaFinding.Damage;
import io.ebbfs.namenode.audit.QuotaFinding.UncountedTypes;
import io.ebbfs.namenode.audit.QuotaFinding.UnknownDeletions;
import io.ebbfs.namenode.audit.QuotaFinding.WrongBytes;
import io.ebbfs.namenode.audit.QuotaFinding.WrongMark;
import io.ebbfs.namenode.audit.QuotaFinding.WrongPolicy;
import io.ebbfs.namenode.audit.QuotaFinding.WrongSums;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.QuotaMarks;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.QuotaCorrection;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Mends in a store that is in use what a {@link QuotaCheck} has found in a copy of its rows. Each
 * finding is mended in one transaction, or in the small ones of a walk, and mending it twice does
 * nothing more. Used by one thread.
 */
final class QuotaMender {
  private final MetadataStore store;
  private final TreeCounter counter;
  // One walk mends all marks below a directory.
  private final Set<Long> walked = new HashSet<>();
  // Why no mark below a directory is mended; no walk that has failed is begun anew.
  private final Map<Long, IOException> failed = new HashMap<>();

  QuotaMender(MetadataStore store, TreeCounter counter) {
    this.store = store;
    this.counter = counter;
  }

  /**
   * Mends a finding, unless the rows have been mended or removed meanwhile.
   *
   * @throws IOException if it cannot be mended; the message names the remedy
   */
  void mend(QuotaFinding finding) throws IOException {
    if (finding instanceof WrongSums sums) {
      correct(sums.difference());
    } else if (finding instanceof UnknownDeletions unknown) {
      correct(unknown.difference());
    } else if (finding instanceof UncountedTypes uncounted) {
      counter.count(uncounted.directoryId(), true);
    } else if (finding instanceof WrongBytes bytes) {
      OptimisticTransactions.transact(
          store, bytes.inodeId(), transaction -> countBytes(transaction, bytes.inodeId()));
    } else if (finding instanceof WrongMark mark) {
      countTree(mark.home());
    } else if (finding instanceof WrongPolicy) {
      throw new IOException("--mend leaves that as it is");
    } else if (finding instanceof Damage) {
      throw new IOException("this is not mended: restore a backup, or ask for help");
    }
  }

  private void correct(QuotaCorrection.Difference difference) throws IOException {
    if (!QuotaCorrection.apply(store, difference)) {
      throw new IOException(
          "directory %d is gone, or was corrected since it was checked: check again"
              .formatted(difference.directoryId()));
    }
  }

  private static Void countBytes(Transaction transaction, long inodeId) throws IOException {
    Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(inodeId));
    if (name.isPresent()) {
      Key key = Tables.inode(name.get().getParentId(), name.get().getName().toByteArray());
      Inode file = InodeLocks.lock(transaction, key, inodeId);
      InodeRow counted = QuotaMarks.withBytes(transaction, file.row());
      if (!counted.equals(file.row())) {
        transaction.put(Tables.INODE, key, counted);
      }
    }
    return null;
  }

  private void countTree(long directoryId) throws IOException {
    if (directoryId == 0) {
      throw new IOException(
          "this is not mended: a quota on a directory above counts everything below it anew");
    }
    if (failed.containsKey(directoryId)) {
      throw failed.get(directoryId);
    }
    if (walked.add(directoryId)) {
      try {
        counter.countAgain(directoryId);
      } catch (IOException e) {
        failed.put(directoryId, e);
        throw e;
      }
    }
  }
}
