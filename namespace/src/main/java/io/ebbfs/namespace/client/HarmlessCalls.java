package io.ebbfs.namespace.client;

import io.ebbfs.namespace.block.ClusterView;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ECBlockGroupStats;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicyInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.security.token.block.DataEncryptionKey;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.hdfs.server.blockmanagement.BlockStoragePolicySuite;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.token.Token;

/**
 * Calls whose answer does not depend on the namespace: features of HDFS that are switched off here,
 * answered as an HDFS without them would.
 */
abstract class HarmlessCalls extends UnsupportedCalls {
  private static final BlockStoragePolicySuite POLICIES =
      BlockStoragePolicySuite.createDefaultSuite();

  private final ClusterView cluster;

  HarmlessCalls(ClusterView cluster) {
    this.cluster = cluster;
  }

  @Override
  public BlockStoragePolicy[] getStoragePolicies() {
    return POLICIES.getAllPolicies();
  }

  static BlockStoragePolicy defaultStoragePolicy() {
    return POLICIES.getDefaultPolicy();
  }

  /** No Kerberos, so no tokens. */
  @Override
  public Token<DelegationTokenIdentifier> getDelegationToken(Text renewer) {
    return null;
  }

  @Override
  public DataEncryptionKey getDataEncryptionKey() {
    return null;
  }

  @Override
  public ErasureCodingPolicyInfo[] getErasureCodingPolicies() {
    return new ErasureCodingPolicyInfo[0];
  }

  @Override
  public Map<String, String> getErasureCodingCodecs() {
    return Map.of();
  }

  @Override
  public ECBlockGroupStats getECBlockGroupStats() {
    return new ECBlockGroupStats(0, 0, 0, 0, 0);
  }

  @Override
  public HAServiceState getHAServiceState() {
    return HAServiceState.ACTIVE;
  }

  @Override
  public void msync() {}

  @Override
  public void refreshNodes() {}

  /** Every upgrade is finalized. */
  @Override
  public boolean upgradeStatus() {
    return true;
  }

  @Override
  public DatanodeInfo[] getSlowDatanodeReport() {
    return new DatanodeInfo[0];
  }

  @Override
  public Path getEnclosingRoot(String src) {
    return new Path("/");
  }

  @Override
  public boolean setSafeMode(SafeModeAction action, boolean checked) throws IOException {
    if (action != SafeModeAction.SAFEMODE_GET) {
      throw new UnsupportedOperationException(
          "EbbFS leaves its safe mode by itself; it does not support setSafeMode(%s)"
              .formatted(action));
    }
    return cluster.inSafeMode();
  }
}
