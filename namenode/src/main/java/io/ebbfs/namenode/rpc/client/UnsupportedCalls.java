package io.ebbfs.namenode.rpc.client;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.fs.BatchedRemoteIterator;
import org.apache.hadoop.fs.CacheFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.inotify.EventBatchList;
import org.apache.hadoop.hdfs.protocol.AddErasureCodingPolicyResponse;
import org.apache.hadoop.hdfs.protocol.BatchedDirectoryListing;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveEntry;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveInfo;
import org.apache.hadoop.hdfs.protocol.CachePoolEntry;
import org.apache.hadoop.hdfs.protocol.CachePoolInfo;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.CorruptFileBlocks;
import org.apache.hadoop.hdfs.protocol.ECTopologyVerifierResult;
import org.apache.hadoop.hdfs.protocol.EncryptionZone;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.OpenFileEntry;
import org.apache.hadoop.hdfs.protocol.OpenFilesIterator;
import org.apache.hadoop.hdfs.protocol.RollingUpgradeInfo;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReport;
import org.apache.hadoop.hdfs.protocol.SnapshotDiffReportListing;
import org.apache.hadoop.hdfs.protocol.SnapshotStatus;
import org.apache.hadoop.hdfs.protocol.SnapshottableDirectoryStatus;
import org.apache.hadoop.hdfs.protocol.ZoneReencryptionStatus;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.security.token.Token;

/**
 * The calls of ClientProtocol that EbbFS does not support. Each call is refused with an error that
 * names it. No call answers success without an effect.
 */
@SuppressWarnings("deprecation") // ClientProtocol has deprecated calls, which are still calls
abstract class UnsupportedCalls implements ClientProtocol {
  private static UnsupportedOperationException unsupported(String call) {
    return new UnsupportedOperationException(
        "EbbFS does not support the call " + call + " of ClientProtocol");
  }

  @Override
  public void setStoragePolicy(String a0, String a1) throws IOException {
    throw unsupported("setStoragePolicy");
  }

  @Override
  public void unsetStoragePolicy(String a0) throws IOException {
    throw unsupported("unsetStoragePolicy");
  }

  @Override
  public void concat(String a0, String[] a1) throws IOException {
    throw unsupported("concat");
  }

  @Override
  public boolean truncate(String a0, long a1, String a2) throws IOException {
    throw unsupported("truncate");
  }

  @Override
  public BatchedDirectoryListing getBatchedListing(String[] a0, byte[] a1, boolean a2)
      throws IOException {
    throw unsupported("getBatchedListing");
  }

  @Override
  public SnapshottableDirectoryStatus[] getSnapshottableDirListing() throws IOException {
    throw unsupported("getSnapshottableDirListing");
  }

  @Override
  public SnapshotStatus[] getSnapshotListing(String a0) throws IOException {
    throw unsupported("getSnapshotListing");
  }

  @Override
  public boolean saveNamespace(long a0, long a1) throws IOException {
    throw unsupported("saveNamespace");
  }

  @Override
  public long rollEdits() throws IOException {
    throw unsupported("rollEdits");
  }

  @Override
  public boolean restoreFailedStorage(String a0) throws IOException {
    throw unsupported("restoreFailedStorage");
  }

  @Override
  public void finalizeUpgrade() throws IOException {
    throw unsupported("finalizeUpgrade");
  }

  @Override
  public RollingUpgradeInfo rollingUpgrade(HdfsConstants.RollingUpgradeAction a0)
      throws IOException {
    throw unsupported("rollingUpgrade");
  }

  @Override
  public CorruptFileBlocks listCorruptFileBlocks(String a0, String a1) throws IOException {
    throw unsupported("listCorruptFileBlocks");
  }

  @Override
  public void metaSave(String a0) throws IOException {
    throw unsupported("metaSave");
  }

  @Override
  public void createSymlink(String a0, String a1, FsPermission a2, boolean a3) throws IOException {
    throw unsupported("createSymlink");
  }

  @Override
  public String getLinkTarget(String a0) throws IOException {
    throw unsupported("getLinkTarget");
  }

  @Override
  public long renewDelegationToken(Token<DelegationTokenIdentifier> a0) throws IOException {
    throw unsupported("renewDelegationToken");
  }

  @Override
  public void cancelDelegationToken(Token<DelegationTokenIdentifier> a0) throws IOException {
    throw unsupported("cancelDelegationToken");
  }

  @Override
  public String createSnapshot(String a0, String a1) throws IOException {
    throw unsupported("createSnapshot");
  }

  @Override
  public void deleteSnapshot(String a0, String a1) throws IOException {
    throw unsupported("deleteSnapshot");
  }

  @Override
  public void renameSnapshot(String a0, String a1, String a2) throws IOException {
    throw unsupported("renameSnapshot");
  }

  @Override
  public void allowSnapshot(String a0) throws IOException {
    throw unsupported("allowSnapshot");
  }

  @Override
  public void disallowSnapshot(String a0) throws IOException {
    throw unsupported("disallowSnapshot");
  }

  @Override
  public SnapshotDiffReport getSnapshotDiffReport(String a0, String a1, String a2)
      throws IOException {
    throw unsupported("getSnapshotDiffReport");
  }

  @Override
  public SnapshotDiffReportListing getSnapshotDiffReportListing(
      String a0, String a1, String a2, byte[] a3, int a4) throws IOException {
    throw unsupported("getSnapshotDiffReportListing");
  }

  @Override
  public long addCacheDirective(CacheDirectiveInfo a0, EnumSet<CacheFlag> a1) throws IOException {
    throw unsupported("addCacheDirective");
  }

  @Override
  public void modifyCacheDirective(CacheDirectiveInfo a0, EnumSet<CacheFlag> a1)
      throws IOException {
    throw unsupported("modifyCacheDirective");
  }

  @Override
  public void removeCacheDirective(long a0) throws IOException {
    throw unsupported("removeCacheDirective");
  }

  @Override
  public BatchedRemoteIterator.BatchedEntries<CacheDirectiveEntry> listCacheDirectives(
      long a0, CacheDirectiveInfo a1) throws IOException {
    throw unsupported("listCacheDirectives");
  }

  @Override
  public void addCachePool(CachePoolInfo a0) throws IOException {
    throw unsupported("addCachePool");
  }

  @Override
  public void modifyCachePool(CachePoolInfo a0) throws IOException {
    throw unsupported("modifyCachePool");
  }

  @Override
  public void removeCachePool(String a0) throws IOException {
    throw unsupported("removeCachePool");
  }

  @Override
  public BatchedRemoteIterator.BatchedEntries<CachePoolEntry> listCachePools(String a0)
      throws IOException {
    throw unsupported("listCachePools");
  }

  @Override
  public void createEncryptionZone(String a0, String a1) throws IOException {
    throw unsupported("createEncryptionZone");
  }

  @Override
  public BatchedRemoteIterator.BatchedEntries<EncryptionZone> listEncryptionZones(long a0)
      throws IOException {
    throw unsupported("listEncryptionZones");
  }

  @Override
  public void reencryptEncryptionZone(String a0, HdfsConstants.ReencryptAction a1)
      throws IOException {
    throw unsupported("reencryptEncryptionZone");
  }

  @Override
  public BatchedRemoteIterator.BatchedEntries<ZoneReencryptionStatus> listReencryptionStatus(
      long a0) throws IOException {
    throw unsupported("listReencryptionStatus");
  }

  @Override
  public long getCurrentEditLogTxid() throws IOException {
    throw unsupported("getCurrentEditLogTxid");
  }

  @Override
  public EventBatchList getEditsFromTxid(long a0) throws IOException {
    throw unsupported("getEditsFromTxid");
  }

  @Override
  public void setErasureCodingPolicy(String a0, String a1) throws IOException {
    throw unsupported("setErasureCodingPolicy");
  }

  @Override
  public AddErasureCodingPolicyResponse[] addErasureCodingPolicies(ErasureCodingPolicy[] a0)
      throws IOException {
    throw unsupported("addErasureCodingPolicies");
  }

  @Override
  public void removeErasureCodingPolicy(String a0) throws IOException {
    throw unsupported("removeErasureCodingPolicy");
  }

  @Override
  public void enableErasureCodingPolicy(String a0) throws IOException {
    throw unsupported("enableErasureCodingPolicy");
  }

  @Override
  public void disableErasureCodingPolicy(String a0) throws IOException {
    throw unsupported("disableErasureCodingPolicy");
  }

  @Override
  public void unsetErasureCodingPolicy(String a0) throws IOException {
    throw unsupported("unsetErasureCodingPolicy");
  }

  @Override
  public ECTopologyVerifierResult getECTopologyResultForPolicies(String... a0) throws IOException {
    throw unsupported("getECTopologyResultForPolicies");
  }

  @Override
  public BatchedRemoteIterator.BatchedEntries<OpenFileEntry> listOpenFiles(long a0)
      throws IOException {
    throw unsupported("listOpenFiles");
  }

  @Override
  public BatchedRemoteIterator.BatchedEntries<OpenFileEntry> listOpenFiles(
      long a0, EnumSet<OpenFilesIterator.OpenFilesType> a1, String a2) throws IOException {
    throw unsupported("listOpenFiles");
  }

  @Override
  public void satisfyStoragePolicy(String a0) throws IOException {
    throw unsupported("satisfyStoragePolicy");
  }
}
