package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.XAttrNotFoundException;

/**
 * Sets, reads and removes extended attributes. It behaves and fails as in HDFS, and adds the
 * attributes below {@code user.ebbfs.}. Thread-safe.
 */
public final class XAttrService {
  private final MetadataStore store;
  private final Clock clock;
  private final XAttrLimits limits;
  private final ReportedHeat heat;

  /**
   * @param heat knows the attribute that tells how often a file or directory is read
   */
  public XAttrService(MetadataStore store, Clock clock, XAttrLimits limits, ReportedHeat heat) {
    this.heat = heat;
    this.store = store;
    this.clock = clock;
    this.limits = limits;
  }

  // ---- changes ----------------------------------------------------------------------------------

  /**
   * Sets an attribute.
   *
   * @param flags whether the attribute may be new, and whether it may exist
   */
  public void set(Caller caller, String src, XAttr attribute, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    limits.checkSize(attribute);
    XAttrPermissions.check(caller, attribute);
    OwnAttributes.checkSet(attribute);
    change(
        caller,
        src,
        attribute,
        (inode, present) -> {
          OwnAttributes.checkPlace(attribute, inode);
          XAttrSetFlag.validate(attribute.getName(), find(present, attribute).isPresent(), flags);
          List<XAttr> changed = without(present, attribute);
          changed.add(0, attribute);
          limits.checkNumber(changed);
          if (XAttrPermissions.isUnreadableBySuperuser(attribute) && !inode.isFile()) {
            throw new IOException(
                "Can only set '" + XAttrPermissions.unreadableBySuperuser() + "' on a file.");
          }
          return changed;
        });
  }

  /**
   * Removes an attribute.
   *
   * @throws IOException if there is no such attribute
   */
  public void remove(Caller caller, String src, XAttr attribute) throws IOException {
    XAttrPermissions.check(caller, attribute);
    change(
        caller,
        src,
        attribute,
        (inode, present) -> {
          if (!present.isEmpty()) { // as HDFS does
            XAttrPermissions.checkRemoval(attribute);
          }
          if (find(present, attribute).isEmpty()) {
            throw new IOException("No matching attributes found for remove operation");
          }
          return without(present, attribute);
        });
  }

  @FunctionalInterface
  private interface Change {
    List<XAttr> of(Inode inode, List<XAttr> present) throws IOException;
  }

  private void change(Caller caller, String src, XAttr attribute, Change change)
      throws IOException {
    OptimisticTransactions.transact(
        store,
        Inode.ROOT_ID,
        transaction -> {
          if (ClientCall.earlierRun(transaction).isPresent()) {
            return null;
          }
          ResolvedPath path = PathResolver.resolve(transaction, src);
          PermissionChecker.checkTraverse(caller, path);
          XAttrPermissions.checkChange(caller, path, attribute);
          if (!path.exists()) {
            throw PathErrors.notFound("cannot find " + path.path());
          }
          Inode inode = InodeLocks.lock(transaction, List.of(path.lastFound())).get(0);
          if (Pins.isPin(attribute)) {
            List<XAttr> present = XAttrRows.read(transaction, inode);
            XAttrRows.writePin(transaction, inode, change.of(inode, present));
          } else {
            transaction.lock(List.of(RowLock.exclusive(Tables.XATTR, Tables.xattr(inode.id()))));
            List<XAttr> present = XAttrRows.read(transaction, inode);
            XAttrRows.writeOthers(transaction, inode, change.of(inode, present));
          }
          ClientCall.takeEffect(transaction, 0, clock.millis());
          return null;
        });
  }

  private static Optional<XAttr> find(List<XAttr> attributes, XAttr wanted) {
    return attributes.stream().filter(wanted::equalsIgnoreValue).findFirst();
  }

  private static List<XAttr> without(List<XAttr> attributes, XAttr removed) {
    List<XAttr> others = new ArrayList<>(attributes);
    others.removeIf(removed::equalsIgnoreValue);
    return others;
  }

  // ---- reads ------------------------------------------------------------------------------------

  /**
   * Attributes with their values.
   *
   * @param wanted the names; null or empty for all that the caller may see. EbbFS's attributes that
   *     cannot be set are found by their names only: a copy of all attributes must not contain them
   * @throws XAttrNotFoundException if the file or directory lacks one of them
   */
  public List<XAttr> get(Caller caller, String src, List<XAttr> wanted) throws IOException {
    if (wanted == null || wanted.isEmpty()) {
      return list(caller, src);
    }
    for (XAttr attribute : wanted) {
      XAttrPermissions.check(caller, attribute);
    }
    return store.transact(
        Inode.ROOT_ID,
        Durability.RELAXED,
        transaction -> {
          ResolvedPath path = readable(transaction, caller, src);
          Inode inode = path.lastFound();
          List<XAttr> present = XAttrRows.read(transaction, path);
          List<XAttr> found = new ArrayList<>();
          for (XAttr attribute : wanted) {
            Optional<XAttr> one = find(present, attribute).or(() -> heat.find(inode, attribute));
            found.add(
                (one.isPresent() ? one : CodingState.find(transaction, inode, attribute))
                    .orElseThrow(XAttrNotFoundException::new));
          }
          return found;
        });
  }

  /** All attributes that the caller may see. */
  public List<XAttr> list(Caller caller, String src) throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        Durability.RELAXED,
        transaction ->
            XAttrRows.read(transaction, readable(transaction, caller, src)).stream()
                .filter(attribute -> XAttrPermissions.mayName(caller, attribute))
                .toList());
  }

  private static ResolvedPath readable(Transaction transaction, Caller caller, String src)
      throws IOException {
    ResolvedPath path = PathResolver.resolveToRead(transaction, src);
    PermissionChecker.checkTraverse(caller, path);
    PermissionChecker.checkAccess(caller, path, FsAction.READ);
    if (!path.exists() || path.isSnapshotList()) {
      throw PathErrors.notFound("cannot find " + path.path());
    }
    return path;
  }
}
