package io.ebbfs.namenode.files.quotas;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.protocol.proto.StoreProtos.QuotaLimitsProto;
import io.ebbfs.protocol.proto.StoreProtos.TypeLimitProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.PathIsNotDirectoryException;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.namenode.UnsupportedActionException;

/** Sets the quotas of directories. It behaves and fails as in HDFS. Thread-safe. */
public final class QuotaService {
  private final MetadataStore store;
  private final TreeCounter counter;

  public QuotaService(MetadataStore store, TreeCounter counter) {
    this.store = store;
    this.counter = counter;
  }

  /**
   * Sets the quotas of a directory. Returns once everything in the directory is counted; until then
   * the new limits do not hold.
   *
   * @param names the most files and directories, {@link HdfsConstants#QUOTA_DONT_SET} to keep the
   *     present limit, or {@link HdfsConstants#QUOTA_RESET} to have none
   * @param bytes the most bytes of all replicas, or one of the same two values
   * @param type the type of storage whose bytes are limited; null for all bytes
   * @throws FileNotFoundException if the path does not exist
   * @throws PathIsNotDirectoryException if it is a file
   */
  public void set(Caller caller, String src, long names, long bytes, StorageType type)
      throws IOException {
    PermissionChecker.checkSuperuser(caller, operation(names, bytes));
    OptimisticTransactions.repeat(
        () -> {
          Inode directory = directory(caller, src, names, bytes, type);
          if (isLimit(names) || isLimit(bytes)) {
            counter.count(directory.id(), type != null);
          } else if (!directory.row().getCounted()) {
            return null; // a directory without limits keeps none
          }
          return store.transact(
              directory.id(),
              transaction -> {
                QuotaRows.changeLimits(
                    transaction, directory.id(), before -> changed(before, names, bytes, type));
                return null;
              });
        });
  }

  /** HDFS's name of a call, by what it sets. */
  public static String operation(long names, long bytes) {
    if (names == HdfsConstants.QUOTA_RESET && bytes == HdfsConstants.QUOTA_DONT_SET) {
      return "clearQuota";
    }
    if (names == HdfsConstants.QUOTA_DONT_SET && bytes == HdfsConstants.QUOTA_RESET) {
      return "clearSpaceQuota";
    }
    return bytes == HdfsConstants.QUOTA_DONT_SET ? "setQuota" : "setSpaceQuota";
  }

  private Inode directory(Caller caller, String src, long names, long bytes, StorageType type)
      throws IOException {
    ResolvedPath path =
        store.transact(
            Inode.ROOT_ID,
            Durability.RELAXED,
            transaction -> PathResolver.resolve(transaction, src));
    PermissionChecker.checkTraverse(caller, path);
    if (isIllegal(names) || isIllegal(bytes)) {
      throw new IllegalArgumentException(
          "Illegal value for nsQuota or ssQuota : " + names + " and " + bytes);
    }
    if (type != null && names != HdfsConstants.QUOTA_DONT_SET) {
      throw new UnsupportedActionException(
          "Failed to set quota by storage type because either dfs.quota.by.storage.type.enabled is"
              + " set to true or nsQuota value is illegal "
              + names);
    }
    if (!path.exists()) {
      throw PathErrors.notFound("Directory does not exist: " + path.path());
    }
    if (!path.lastFound().isDirectory()) {
      throw new PathIsNotDirectoryException(path.path().toString());
    }
    return path.lastFound();
  }

  private static boolean isIllegal(long quota) {
    return quota < 0 && quota != HdfsConstants.QUOTA_RESET;
  }

  private static boolean isLimit(long quota) {
    return quota != HdfsConstants.QUOTA_DONT_SET && quota != HdfsConstants.QUOTA_RESET;
  }

  private static QuotaLimitsProto changed(
      QuotaLimitsProto before, long names, long bytes, StorageType type) {
    QuotaLimitsProto.Builder after = before.toBuilder();
    if (isLimit(names)) {
      after.setNames(names);
    } else if (names == HdfsConstants.QUOTA_RESET) {
      after.clearNames();
    }
    if (bytes == HdfsConstants.QUOTA_DONT_SET) {
      return after.build();
    }
    if (type != null) {
      return withType(after, type.name(), bytes).build();
    }
    return isLimit(bytes) ? after.setBytes(bytes).build() : after.clearBytes().build();
  }

  private static QuotaLimitsProto.Builder withType(
      QuotaLimitsProto.Builder limits, String type, long bytes) {
    QuotaLimitsProto before = limits.build();
    limits.clearTypes();
    before.getTypesList().stream()
        .filter(limit -> !limit.getType().equals(type))
        .forEach(limits::addTypes);
    return isLimit(bytes)
        ? limits.addTypes(TypeLimitProto.newBuilder().setType(type).setBytes(bytes))
        : limits;
  }
}
