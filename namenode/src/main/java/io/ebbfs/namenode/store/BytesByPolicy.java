package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.PolicyBytesProto;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockStoragePolicySuite;
import org.apache.hadoop.hdfs.server.namenode.ErasureCodingPolicyManager;

/**
 * The bytes of files in a counted directory, by what decides on their types of storage: the storage
 * policy that a file has from a place below the directory, and the number of its replicas. Of a
 * file that has no policy from below, only the directory and those above it know the policy. So a
 * policy that changes above moves no bytes here. Not thread-safe.
 */
public final class BytesByPolicy {
  /** No policy from below: the one that holds for the counted directory itself. */
  public static final int FROM_ABOVE = 0;

  /** Instead of a number of replicas, for files of block groups. */
  private static final int IN_GROUPS = 0;

  private static final int POLICY_IDS = 16;
  private static final BlockStoragePolicySuite SUITE = BlockStoragePolicySuite.createDefaultSuite();

  /** Files that have the same types of storage wherever their directory moves. */
  private record Kind(int policy, int copies) {}

  // Made with the first bytes: most directories have no quota by type.
  private Map<Kind, Long> bytes = Map.of();

  /**
   * Adds the bytes of a file, or takes them away, if the file counts by type.
   *
   * @param policy that the file has from below the directory, or {@link #FROM_ABOVE}
   * @param sign 1 or -1
   */
  public void add(InodeRow file, int policy, int sign) {
    if (file.getCountedTypes() && file.getCountedBytes() != 0) {
      int copies = file.hasEcPolicyId() ? IN_GROUPS : file.getReplication();
      add(new Kind(policy, copies), sign * file.getCountedBytes());
    }
  }

  /** Adds the bytes of a shard. */
  public void add(List<PolicyBytesProto> shard) {
    shard.forEach(one -> add(new Kind(one.getPolicy(), one.getCopies()), one.getBytes()));
  }

  /**
   * Adds the bytes of another directory.
   *
   * @param policy that holds for what has no policy from below in the other directory
   * @param sign 1 to add, -1 to take away
   */
  public void add(BytesByPolicy other, int policy, int sign) {
    other.bytes.forEach(
        (kind, more) -> {
          int known = kind.policy == FROM_ABOVE ? policy : kind.policy;
          add(new Kind(known, kind.copies), sign * more);
        });
  }

  private void add(Kind kind, long more) {
    if (bytes.isEmpty()) {
      bytes = new LinkedHashMap<>();
    }
    if (bytes.merge(kind, more, Long::sum) == 0) {
      bytes.remove(kind);
    }
  }

  boolean isEmpty() {
    return bytes.isEmpty();
  }

  List<PolicyBytesProto> toRows() {
    return bytes.entrySet().stream().map(BytesByPolicy::toRow).toList();
  }

  private static PolicyBytesProto toRow(Map.Entry<Kind, Long> one) {
    PolicyBytesProto.Builder row =
        PolicyBytesProto.newBuilder().setCopies(one.getKey().copies).setBytes(one.getValue());
    return one.getKey().policy == FROM_ABOVE
        ? row.build()
        : row.setPolicy(one.getKey().policy).build();
  }

  /**
   * The bytes on each type of storage.
   *
   * @param policy that holds for the counted directory; {@link #FROM_ABOVE} if there is none
   */
  public Map<StorageType, Long> types(int policy) {
    Map<StorageType, Long> types = new EnumMap<>(StorageType.class);
    bytes.forEach(
        (kind, all) -> {
          int known = kind.policy == FROM_ABOVE ? policy : kind.policy;
          long each = kind.copies == IN_GROUPS ? all : all / kind.copies;
          for (StorageType type : typesOfCopies(known, kind.copies)) {
            types.merge(type, each, Long::sum);
          }
        });
    return types;
  }

  /**
   * The types of storage on which the bytes of a file count, one for each replica, as HDFS chooses
   * them: what is in memory counts on disk. The bytes of a file without a policy count on none.
   *
   * @param copies the replication; 0 for a file of block groups, all of whose blocks go to one type
   */
  private static List<StorageType> typesOfCopies(int policy, int copies) {
    BlockStoragePolicy found =
        policy > FROM_ABOVE && policy < POLICY_IDS ? SUITE.getPolicy((byte) policy) : null;
    boolean isObeyed =
        found != null
            && (copies != IN_GROUPS
                || ErasureCodingPolicyManager.checkStoragePolicySuitableForECStripedMode(
                    (byte) policy));
    return isObeyed
        ? found.chooseStorageTypes((short) Math.max(1, copies)).stream()
            .filter(StorageType::supportTypeQuota)
            .toList()
        : List.of();
  }

  /**
   * The bytes of a file on each type of storage as HDFS's content summary tells them: for each
   * replica the length of the file, and for a file of block groups its length once.
   *
   * @param policy that holds for the file; {@link #FROM_ABOVE} if there is none
   */
  public static Map<StorageType, Long> ofSummary(InodeRow file, int policy) {
    Map<StorageType, Long> types = new EnumMap<>(StorageType.class);
    int copies = file.hasEcPolicyId() ? IN_GROUPS : file.getReplication();
    for (StorageType type : typesOfCopies(policy, copies)) {
      types.merge(type, file.getLengthBytes(), Long::sum);
    }
    return types;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BytesByPolicy same && bytes.equals(same.bytes);
  }

  @Override
  public int hashCode() {
    return bytes.hashCode();
  }

  /** The bytes by the ids of policies, for operators; 0 is the policy of the directory. */
  @Override
  public String toString() {
    List<String> all =
        bytes.entrySet().stream()
            .map(
                one ->
                    "%d bytes of %d copies with policy %d"
                        .formatted(one.getValue(), one.getKey().copies, one.getKey().policy))
            .toList();
    return all.isEmpty() ? "none" : String.join(" and ", all);
  }
}
