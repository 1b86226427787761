package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Takes an error off the sums of a counted directory while they are in use. Each commit changes the
 * sums and the rows by the same. So an error that a copy of the rows shows is the error of the sums
 * at any later moment, however much was written since, and wherever the directory has moved.
 * Stateless.
 */
public final class QuotaCorrection {
  /**
   * By how much the sums of a directory are more than its inodes, both without what counts in
   * counted directories below it.
   *
   * @param policies of the bytes that count by type of storage
   * @param corrections how often the sums had been corrected when that was found
   */
  public record Difference(
      long directoryId,
      long names,
      long bytes,
      long deleted,
      BytesByPolicy policies,
      long corrections) {}

  private QuotaCorrection() {}

  /**
   * Corrects the sums of a directory, and of all counted directories above it.
   *
   * @return false if the directory is gone, or its sums were corrected since the difference was
   *     found: then nothing is done, so that no difference is taken off twice
   */
  public static boolean apply(MetadataStore store, Difference difference) throws IOException {
    return OptimisticTransactions.transact(
        store, difference.directoryId(), transaction -> apply(transaction, difference));
  }

  private static boolean apply(Transaction transaction, Difference difference) throws IOException {
    Map<Long, Long> chain = chain(transaction, difference.directoryId());
    if (chain.isEmpty()) {
      return false;
    }
    List<RowLock> locks = new ArrayList<>();
    chain.keySet().forEach(id -> locks.addAll(QuotaRows.locks(id)));
    transaction.lock(locks);
    int policy = BytesByPolicy.FROM_ABOVE;
    for (Map.Entry<Long, Long> one : chain.entrySet()) {
      List<QuotaRow> shards = QuotaRows.read(transaction, one.getKey());
      if (shards.isEmpty() || shards.get(0).getCountedIn() != one.getValue()) {
        throw new StaleReadException("directory " + one.getKey() + " has moved");
      }
      boolean isFirst = one.getKey() == difference.directoryId();
      if (isFirst && shards.get(0).getCorrections() != difference.corrections()) {
        return false;
      }
      List<QuotaRow> right = without(shards, difference, policy, isFirst ? 1 : 0);
      QuotaRows.write(
          transaction, one.getKey(), QuotaRows.shareCredit(transaction, one.getKey(), right));
      policy = policy == BytesByPolicy.FROM_ABOVE ? shards.get(0).getPolicy() : policy;
    }
    return true;
  }

  /** The counted directories from one upwards, each with the next one; 0 is none. */
  private static Map<Long, Long> chain(Transaction transaction, long directoryId)
      throws IOException {
    Map<Long, Long> chain = new LinkedHashMap<>();
    long id = directoryId;
    while (id != 0) {
      Optional<QuotaRow> first = transaction.get(Tables.QUOTA, Tables.quota(id, 0));
      if (first.isEmpty()) {
        break;
      }
      if (chain.put(id, first.get().getCountedIn()) != null) {
        throw new IOException(
            "directory " + id + " counts in itself: the table quota is damaged; check the store");
      }
      id = first.get().getCountedIn();
    }
    return chain;
  }

  /**
   * @param policy that holds in the directory of the difference, as far as a counted directory
   *     below the one of these shards has a policy
   */
  private static List<QuotaRow> without(
      List<QuotaRow> shards, Difference difference, int policy, int corrections) {
    List<QuotaRow> right = new ArrayList<>(shards.size());
    for (QuotaRow shard : shards) {
      right.add(shard.toBuilder().setDeleted(shard.getDeleted()).build());
    }
    QuotaRow first = right.get(0);
    BytesByPolicy policies = new BytesByPolicy();
    policies.add(first.getByPolicyList());
    policies.add(difference.policies(), policy, -1);
    right.set(
        0,
        first.toBuilder()
            .setNames(first.getNames() - difference.names())
            .setBytes(first.getBytes() - difference.bytes())
            .setDeleted(first.getDeleted() - difference.deleted())
            .clearByPolicy()
            .addAllByPolicy(policies.toRows())
            .setCorrections(first.getCorrections() + corrections)
            .build());
    return right;
  }
}
