package io.ebbfs.ignite;

import java.util.HashSet;
import org.apache.ignite.Ignite;
import org.apache.ignite.binary.BinaryObject;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.internal.processors.cache.GridCacheContext;
import org.apache.ignite.internal.processors.cache.transactions.IgniteInternalTx;
import org.apache.ignite.lang.IgniteCallable;
import org.apache.ignite.resources.IgniteInstanceResource;
import org.apache.ignite.transactions.TransactionState;

/**
 * Tells which commits on rows of a partition have begun and not ended, at the node of the store
 * that decides about these rows. All nodes of a commit have prepared it before one of them writes a
 * row. So who has seen one row of a commit finds the commit here, or can see its rows.
 */
final class UnfinishedCommits implements IgniteCallable<HashSet<String>> {
  private static final long serialVersionUID = 1;

  @IgniteInstanceResource private transient Ignite ignite;
  private final long partition;

  UnfinishedCommits(long partition) {
    this.partition = partition;
  }

  /** The names of the commits, the same at all nodes. */
  @Override
  public HashSet<String> call() {
    HashSet<String> found = new HashSet<>();
    GridCacheContext<?, ?> cache =
        ((IgniteEx) ignite).context().cache().internalCache(IgniteSettings.CACHE).context();
    for (IgniteInternalTx commit : cache.tm().activeTransactions()) {
      if (hasBegun(commit) && writes(commit, cache)) {
        found.add(commit.nearXidVersion().toString());
      }
    }
    return found;
  }

  private static boolean hasBegun(IgniteInternalTx commit) {
    TransactionState state = commit.state();
    return state == TransactionState.PREPARED || state == TransactionState.COMMITTING;
  }

  private boolean writes(IgniteInternalTx commit, GridCacheContext<?, ?> cache) {
    int group = cache.affinity().partition(partition);
    return commit.writeEntries().stream()
        .filter(row -> row.cacheId() == cache.cacheId() && row.key().partition() == group)
        .anyMatch(row -> isOf(row.key().value(cache.cacheObjectContext(), false)));
  }

  /** A key may come in Ignite's own form. */
  private boolean isOf(Object key) {
    RowId id = key instanceof BinaryObject binary ? binary.deserialize() : (RowId) key;
    return id.key().partition() == partition;
  }
}
