package io.ebbfs.namenode.policies;

import io.ebbfs.namenode.store.EffectivePolicy;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/** Finds the storage policy by which blocks of a file are placed. Stateless. */
public final class InheritedPolicy {
  private InheritedPolicy() {}

  /**
   * The policy that holds for the file or directory with an id; the default if there is none, or if
   * the inode is deleted. Takes no locks, as {@link EffectivePolicy}.
   */
  public static BlockStoragePolicy of(Transaction transaction, long inodeId) throws IOException {
    return StoragePolicies.withId(EffectivePolicy.idOf(transaction, inodeId));
  }
}
