package io.ebbfs.namenode.rpc.client;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
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
 * names the call, the reason and a remedy. No call answers success without an effect. The same
 * calls are listed in {@code docs/protocols.md}.
 */
@SuppressWarnings("deprecation") // ClientProtocol has deprecated calls, which are still calls
abstract class UnsupportedCalls implements ClientProtocol {
  private static final String NO_EDIT_LOG =
      "transactions are synced to the metadata store, and there is no edit log";
  private static final String NO_LINKS =
      "there are no symbolic links, as in HDFS by default: use the path of the file itself";
  private static final String NO_CACHE =
      "chunk servers lock no blocks in memory, and their kernels cache what is read often: let a"
          + " storage policy put files that must be read fast on SSDs";
  private static final String NO_ENCRYPTION =
      "EbbFS encrypts nothing at rest: encrypt in the application, or encrypt the disks of the"
          + " servers";
  private static final String NO_TOKENS =
      "EbbFS has no Kerberos and gives out no delegation tokens, so it knows none: call as the user"
          + " of the process, without a token";

  /** Reason and remedy of each refused call, and of each call that is refused in some cases. */
  static final Map<String, String> REASONS =
      Map.ofEntries(
          Map.entry(
              "rollEdits", NO_EDIT_LOG + " to roll: 'hdfs dfsadmin -saveNamespace' takes a backup"),
          Map.entry("getCurrentEditLogTxid", changesAreInKafka()),
          Map.entry("getEditsFromTxid", changesAreInKafka()),
          Map.entry("createSymlink", NO_LINKS),
          Map.entry("getLinkTarget", NO_LINKS),
          Map.entry("renewDelegationToken", NO_TOKENS),
          Map.entry("cancelDelegationToken", NO_TOKENS),
          Map.entry("addCacheDirective", NO_CACHE),
          Map.entry("modifyCacheDirective", NO_CACHE),
          Map.entry("removeCacheDirective", NO_CACHE),
          Map.entry("addCachePool", NO_CACHE),
          Map.entry("modifyCachePool", NO_CACHE),
          Map.entry("removeCachePool", NO_CACHE),
          Map.entry("createEncryptionZone", NO_ENCRYPTION),
          Map.entry("reencryptEncryptionZone", NO_ENCRYPTION),
          Map.entry(
              "rollingUpgrade",
              "processes of different versions work together: replace them in turn"),
          Map.entry(
              "restoreFailedStorage",
              "the metadata is in one store, which is whole or does not start: restore a backup if"
                  + " it does not"));

  private static String changesAreInKafka() {
    return NO_EDIT_LOG + ": read the changes in the Kafka topic ebbfs.changes";
  }

  /** The refusal of a call of {@link #REASONS}. */
  static UnsupportedOperationException unsupported(String call) {
    return new UnsupportedOperationException(
        "EbbFS does not support the call "
            + call
            + " of ClientProtocol: "
            + Objects.requireNonNull(REASONS.get(call), call));
  }

  /** As HDFS says it of a token that it does not know. */
  private static SecretManager.InvalidToken noToken(String call) {
    return new SecretManager.InvalidToken(call + ": " + REASONS.get(call));
  }

  @Override
  public long rollEdits() throws IOException {
    throw unsupported("rollEdits");
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
    throw noToken("renewDelegationToken");
  }

  @Override
  public void cancelDelegationToken(Token<DelegationTokenIdentifier> a0) throws IOException {
    throw noToken("cancelDelegationToken");
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
    throw unsupported("getCurrentEditLogTxid");
  }

  @Override
  public EventBatchList getEditsFromTxid(long a0) throws IOException {
    throw unsupported("getEditsFromTxid");
  }
}
