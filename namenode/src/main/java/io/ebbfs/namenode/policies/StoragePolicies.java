package io.ebbfs.namenode.policies;

import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockStoragePolicySuite;

/** HDFS's suite of storage policies. Stateless. */
public final class StoragePolicies {
  /** Not a policy: neither the inode nor a directory above has one. */
  public static final int UNSPECIFIED = 0;

  private static final BlockStoragePolicySuite SUITE = BlockStoragePolicySuite.createDefaultSuite();

  private static final int IDS = 16;

  private StoragePolicies() {}

  public static BlockStoragePolicy[] all() {
    return SUITE.getAllPolicies();
  }

  /** The policy with a name, in upper or lower case. */
  public static Optional<BlockStoragePolicy> named(String name) {
    return Optional.ofNullable(SUITE.getPolicy(name));
  }

  /** The policy with an id; the default for {@link #UNSPECIFIED} and for ids of other versions. */
  public static BlockStoragePolicy withId(int id) {
    boolean isKnown = id > UNSPECIFIED && id < IDS;
    BlockStoragePolicy found = isKnown ? SUITE.getPolicy((byte) id) : null;
    return found == null ? SUITE.getDefaultPolicy() : found;
  }
}
