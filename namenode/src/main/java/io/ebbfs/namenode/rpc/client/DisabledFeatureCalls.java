package io.ebbfs.namenode.rpc.client;

import java.util.List;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedEntries;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedListEntries;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveEntry;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveInfo;
import org.apache.hadoop.hdfs.protocol.CachePoolEntry;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.security.token.block.DataEncryptionKey;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.token.Token;

/**
 * Calls about features of HDFS that EbbFS does not have, but that stock clients ask about by
 * themselves. Each gets the true answer of an HDFS in which the feature is switched off. A call
 * that orders an effect is never answered here: it is refused in {@link UnsupportedCalls}.
 */
abstract class DisabledFeatureCalls extends UnsupportedCalls {
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
  public HAServiceState getHAServiceState() {
    return HAServiceState.ACTIVE;
  }

  /** There is one namenode, so its state is always the newest. */
  @Override
  public void msync() {}

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
  public BatchedEntries<CacheDirectiveEntry> listCacheDirectives(
      long after, CacheDirectiveInfo filter) {
    return new BatchedListEntries<>(List.of(), false);
  }

  @Override
  public BatchedEntries<CachePoolEntry> listCachePools(String after) {
    return new BatchedListEntries<>(List.of(), false);
  }
}
