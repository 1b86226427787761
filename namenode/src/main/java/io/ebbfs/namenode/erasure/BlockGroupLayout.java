package io.ebbfs.namenode.erasure;

import java.util.Optional;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.hdfs.util.StripedBlockUtil;
import org.apache.hadoop.io.erasurecode.ErasureCodeConstants;

/**
 * How the bytes of a block group lie in its blocks. The data is cut into cells, which go round over
 * the data blocks. A parity block has the length of the longest data block. Immutable.
 */
public record BlockGroupLayout(ErasureCodingPolicy policy) {
  /** The id of a block in a group is the id of the group and the index of the block in it. */
  public static final int IDS_OF_GROUP = 16;

  /**
   * The layout of a policy.
   *
   * @throws IllegalArgumentException if the id is not that of a policy of erasure coding
   */
  public static BlockGroupLayout of(int policyId) {
    ErasureCodingPolicy policy = SystemErasureCodingPolicies.getByID((byte) policyId);
    if (policy == null || policy.isReplicationPolicy()) {
      throw new IllegalArgumentException(
          "there is no erasure coding policy with the id %d: a newer version of EbbFS wrote the row"
              .formatted(policyId));
    }
    return new BlockGroupLayout(policy);
  }

  /** The policy of this name, be it enabled or not; also that of replication. */
  public static Optional<ErasureCodingPolicy> named(String name) {
    return name.equals(ErasureCodeConstants.REPLICATION_POLICY_NAME)
        ? Optional.of(SystemErasureCodingPolicies.getReplicationPolicy())
        : Optional.ofNullable(SystemErasureCodingPolicies.getByName(name));
  }

  /**
   * The policy that holds for an inode, as clients are told.
   *
   * @param policyId as in the row of the inode
   * @return null for replication
   */
  public static ErasureCodingPolicy shown(boolean hasPolicy, int policyId) {
    return hasPolicy && policyId != ErasureCodeConstants.REPLICATION_POLICY_ID
        ? of(policyId).policy()
        : null;
  }

  public int dataUnits() {
    return policy.getNumDataUnits();
  }

  /** The blocks of a full group. */
  public int units() {
    return policy.getNumDataUnits() + policy.getNumParityUnits();
  }

  /** The data of a row of cells, one in each data block. */
  public long rowBytes() {
    return (long) policy.getCellSize() * dataUnits();
  }

  /** The length of the block at an index of a group with so much data; 0 if there is no block. */
  public long internalLengthBytes(long groupLengthBytes, int index) {
    return groupLengthBytes == 0
        ? 0
        : StripedBlockUtil.getInternalBlockLength(groupLengthBytes, policy, index);
  }

  /** The bytes of all blocks of a group, parities included. */
  public long consumedBytes(long groupLengthBytes) {
    long bytes = 0;
    for (int i = 0; i < units(); i++) {
      bytes += internalLengthBytes(groupLengthBytes, i);
    }
    return bytes;
  }

  /** How many blocks a group with so much data has: those with bytes. */
  public int blocks(long groupLengthBytes) {
    return groupLengthBytes == 0 ? 0 : neededBlocks(groupLengthBytes) + policy.getNumParityUnits();
  }

  /** How many blocks a reader needs: those with data in a short group. */
  public int neededBlocks(long groupLengthBytes) {
    long cells = (groupLengthBytes + policy.getCellSize() - 1) / policy.getCellSize();
    return (int) Math.min(dataUnits(), cells);
  }

  /** The name of the code, in {@code Codes}, that computes the same parities. */
  public String codeName() {
    String sizes = "(" + policy.getNumDataUnits() + "," + policy.getNumParityUnits() + ")";
    return switch (policy.getCodecName()) {
      case ErasureCodeConstants.RS_CODEC_NAME -> "HDFS-RS" + sizes;
      case ErasureCodeConstants.RS_LEGACY_CODEC_NAME -> "HDFS-RS-LEGACY" + sizes;
      case ErasureCodeConstants.XOR_CODEC_NAME -> "XOR" + sizes;
      default ->
          throw new HadoopIllegalArgumentException(
              "no code computes the parities of the codec " + policy.getCodecName());
    };
  }
}
