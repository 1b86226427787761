package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocolPB.PBHelperClient;

/** The messages of erasure coding policies, which many answers repeat. Thread-safe. */
final class PolicyBytes {
  private static final Map<Integer, byte[]> BY_ID = new ConcurrentHashMap<>();

  private PolicyBytes() {}

  /** The policy of a file or directory that has one other than replication. */
  static byte[] of(InodeRow row) {
    return of(BlockGroupLayout.of(row.getEcPolicyId()).policy());
  }

  static byte[] of(ErasureCodingPolicy policy) {
    return BY_ID.computeIfAbsent(
        (int) policy.getId(),
        id -> PBHelperClient.convertErasureCodingPolicy(policy).toByteArray());
  }
}
