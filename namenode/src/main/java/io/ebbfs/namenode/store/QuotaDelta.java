package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.StorageType;

/** By how much a transaction changes the sums of a counted directory. Not thread-safe. */
final class QuotaDelta {
  private long names;
  private long bytes;
  private long deleted;
  private final BytesByPolicy policies = new BytesByPolicy();
  // The part that is added, also where as much is taken away.
  private long newNames;
  private long newBytes;
  private List<BytesByPolicy> newPolicies = List.of();
  // The part of the bytes for which no limit is asked.
  private long unlimitedBytes;
  private final BytesByPolicy unlimitedPolicies = new BytesByPolicy();

  /** Adds what one inode changes, or one directory that moves. */
  void add(long moreNames, long moreBytes, long moreDeleted) {
    names += moreNames;
    bytes += moreBytes;
    deleted += moreDeleted;
    newNames += Math.max(0, moreNames);
    newBytes += Math.max(0, moreBytes);
  }

  /** Has no limit asked for a part of the bytes. */
  void doNotLimit(long part) {
    unlimitedBytes += part;
  }

  /**
   * Adds the bytes by policy that one inode changes, or one directory that moves.
   *
   * @param isLimited whether the limits of types are asked
   */
  void add(BytesByPolicy more, boolean isLimited) {
    if (more.isEmpty()) {
      return;
    }
    policies.add(more, BytesByPolicy.FROM_ABOVE, 1);
    if (newPolicies.isEmpty()) {
      newPolicies = new ArrayList<>();
    }
    newPolicies.add(more);
    if (!isLimited) {
      unlimitedPolicies.add(more, BytesByPolicy.FROM_ABOVE, 1);
    }
  }

  long names() {
    return names;
  }

  long newNames() {
    return newNames;
  }

  long deleted() {
    return deleted;
  }

  /** The bytes for which a limit is asked. */
  long limitedBytes() {
    return bytes - unlimitedBytes;
  }

  /**
   * The bytes on each type of storage for which a limit is asked.
   *
   * @param policy the id of the storage policy that holds for the directory
   */
  Map<StorageType, Long> limitedTypes(int policy) {
    BytesByPolicy limited = new BytesByPolicy();
    limited.add(policies, BytesByPolicy.FROM_ABOVE, 1);
    limited.add(unlimitedPolicies, BytesByPolicy.FROM_ABOVE, -1);
    return limited.types(policy);
  }

  /** Whether the credits of a shard are enough for names and bytes, whatever their types are. */
  boolean hasCredit(QuotaRow shard) {
    return (newNames == 0 || !shard.hasNameCredit() || shard.getNameCredit() >= newNames)
        && (newBytes == 0 || !shard.hasByteCredit() || shard.getByteCredit() >= newBytes);
  }

  /** Whether the change needs a credit of a shard for types of storage. */
  boolean needsTypeCredit(QuotaRow shard) {
    return !newPolicies.isEmpty() && shard.getTypeCreditsCount() > 0;
  }

  /**
   * Whether the credits of a shard for types of storage are enough.
   *
   * @param policy the id of the storage policy that holds for the directory
   */
  boolean hasTypeCredit(QuotaRow shard, int policy) {
    return shard.getCreditPolicy() == policy
        && shard.getTypeCreditsList().stream()
            .allMatch(credit -> newBytes(credit, policy) <= credit.getBytes());
  }

  /** The bytes that are added on the type of a credit, also where as much is taken away. */
  private long newBytes(TypeLimitProto credit, int policy) {
    StorageType type = StorageType.valueOf(credit.getType());
    return newPolicies.stream()
        .mapToLong(more -> Math.max(0, more.types(policy).getOrDefault(type, 0L)))
        .sum();
  }

  /** A shard with the change in its sums, and with the same credits. */
  QuotaRow.Builder addedTo(QuotaRow shard) {
    QuotaRow.Builder sum =
        shard.toBuilder()
            .setNames(shard.getNames() + names)
            .setBytes(shard.getBytes() + bytes)
            .setDeleted(shard.getDeleted() + deleted);
    if (!policies.isEmpty()) {
      BytesByPolicy all = new BytesByPolicy();
      all.add(shard.getByPolicyList());
      all.add(policies, BytesByPolicy.FROM_ABOVE, 1);
      sum.clearByPolicy().addAllByPolicy(all.toRows());
    }
    return sum;
  }

  /** Takes names and bytes from the credits of a shard. */
  void takeCredit(QuotaRow.Builder shard) {
    if (shard.hasNameCredit()) {
      shard.setNameCredit(shard.getNameCredit() - newNames);
    }
    if (shard.hasByteCredit()) {
      shard.setByteCredit(shard.getByteCredit() - newBytes);
    }
  }

  /** Takes the bytes from the credits of a shard for types of storage. */
  void takeTypeCredit(QuotaRow.Builder shard, int policy) {
    for (int i = 0; i < shard.getTypeCreditsCount(); i++) {
      TypeLimitProto credit = shard.getTypeCredits(i);
      long left = credit.getBytes() - newBytes(credit, policy);
      shard.setTypeCredits(i, credit.toBuilder().setBytes(left));
    }
  }
}
