package io.ebbfs.namenode.replicas;

import java.util.List;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/**
 * On which types of disks the replicas of a block are wanted. Immutable.
 *
 * @param policy of the file; null for any disk
 * @param replication of the block, with the replicas that are there
 * @param isNew whether the block is new; the fallbacks of a policy differ for copies of a block
 * @param exactly the types of the wanted replicas, in place of those of the policy; null for those
 *     of the policy
 */
public record TypeWish(
    BlockStoragePolicy policy, int replication, boolean isNew, List<StorageType> exactly) {
  /** Any disk. */
  public static final TypeWish ANY = new TypeWish(null, 0, false, null);

  /** As a policy says for a block that is written. */
  public static TypeWish forNewBlock(BlockStoragePolicy policy, int replication) {
    return new TypeWish(policy, replication, true, null);
  }

  /** As a policy says for further replicas of a block. */
  public static TypeWish forCopy(BlockStoragePolicy policy, int replication) {
    return new TypeWish(policy, replication, false, null);
  }

  /** These types and no others. */
  public static TypeWish exactly(List<StorageType> types) {
    return new TypeWish(null, types.size(), false, List.copyOf(types));
  }
}
