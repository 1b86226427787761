package io.ebbfs.namenode.rpc.client;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.fs.CacheFlag;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.inotify.EventBatchList;
import org.apache.hadoop.hdfs.protocol.CacheDirectiveInfo;
import org.apache.hadoop.hdfs.protocol.CachePoolInfo;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.security.token.SecretManager;
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

  /**
   * The same with the reason.
   *
   * @param reason why, and what to do instead
   */
  static UnsupportedOperationException unsupported(String call, String reason) {
    return new UnsupportedOperationException(
        "EbbFS does not support the call " + call + " of ClientProtocol: " + reason);
  }

  @Override
  public long rollEdits() throws IOException {
    throw unsupported(
        "rollEdits",
        "transactions are synced to the metadata store, and there is no edit log to roll: 'hdfs"
            + " dfsadmin -saveNamespace' takes a backup");
  }

  @Override
  public void createSymlink(String a0, String a1, FsPermission a2, boolean a3) throws IOException {
    throw unsupported("createSymlink", "there are no symbolic links");
  }

  @Override
  public String getLinkTarget(String a0) throws IOException {
    throw unsupported("getLinkTarget", "there are no symbolic links");
  }

  @Override
  public long renewDelegationToken(Token<DelegationTokenIdentifier> a0) throws IOException {
    throw new SecretManager.InvalidToken(
        "renewDelegationToken: EbbFS has no Kerberos and gives out no delegation tokens, so it"
            + " knows none");
  }

  @Override
  public void cancelDelegationToken(Token<DelegationTokenIdentifier> a0) throws IOException {
    throw new SecretManager.InvalidToken(
        "cancelDelegationToken: EbbFS has no Kerberos and gives out no delegation tokens, so it"
            + " knows none");
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
  public void createEncryptionZone(String a0, String a1) throws IOException {
    throw unsupported("createEncryptionZone");
  }

  @Override
  public void reencryptEncryptionZone(String a0, HdfsConstants.ReencryptAction a1)
      throws IOException {
    throw unsupported("reencryptEncryptionZone");
  }

  @Override
  public long getCurrentEditLogTxid() throws IOException {
    throw unsupported(
        "getCurrentEditLogTxid",
        "transactions are synced to the metadata store, and there is no edit log");
  }

  @Override
  public EventBatchList getEditsFromTxid(long a0) throws IOException {
    throw unsupported(
        "getEditsFromTxid",
        "transactions are synced to the metadata store, and there is no edit log: changes are told"
            + " in the Kafka topic ebbfs.changes");
  }
}
