package io.ebbfs.namenode.files.inodes;

import io.ebbfs.protocol.proto.StoreProtos.AclEntryRowProto;
import io.ebbfs.protocol.proto.StoreProtos.AclTypeProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclEntryType;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The access control list of an inode in its row. As in HDFS, the permission has the entries of the
 * owner and of the others, and that of the group, or of the mask if the row has an access list: so
 * a chmod changes the mask. The row has all other entries.
 */
public final class AclRows {
  /** The entries that every list has: owner, group and others. */
  private static final int MINIMAL = 3;

  private static final int STICKY = 01000;

  private static final FsAction[] ACTIONS = FsAction.values();

  private AclRows() {}

  /** What an entry allows. */
  static FsAction action(AclEntryRowProto entry) {
    return ACTIONS[entry.getPermission() & 7];
  }

  /** The entries that the permission does not tell, which is what HDFS shows to clients. */
  public static List<AclEntry> beyondPermission(InodeRow row) {
    List<AclEntry> entries = new ArrayList<>();
    row.getAccessAclList().forEach(entry -> entries.add(entry(AclEntryScope.ACCESS, entry)));
    row.getDefaultAclList().forEach(entry -> entries.add(entry(AclEntryScope.DEFAULT, entry)));
    return entries;
  }

  /** All entries, sorted by scope, type and name. */
  public static List<AclEntry> all(InodeRow row) {
    FsPermission permission = new FsPermission((short) row.getPermission());
    List<AclEntry> entries = new ArrayList<>();
    entries.add(unnamed(AclEntryType.USER, permission.getUserAction()));
    if (row.getAccessAclCount() == 0) {
      entries.add(unnamed(AclEntryType.GROUP, permission.getGroupAction()));
    } else {
      row.getAccessAclList().forEach(entry -> entries.add(entry(AclEntryScope.ACCESS, entry)));
      entries.add(unnamed(AclEntryType.MASK, permission.getGroupAction()));
    }
    entries.add(unnamed(AclEntryType.OTHER, permission.getOtherAction()));
    row.getDefaultAclList().forEach(entry -> entries.add(entry(AclEntryScope.DEFAULT, entry)));
    return entries;
  }

  /** The row with another list, of which all entries are given, sorted. */
  public static InodeRow with(InodeRow row, List<AclEntry> entries) {
    List<AclEntry> access = of(entries, AclEntryScope.ACCESS);
    InodeRow.Builder changed = row.toBuilder().clearDefaultAcl();
    of(entries, AclEntryScope.DEFAULT).forEach(entry -> changed.addDefaultAcl(message(entry)));
    return setAccess(changed, access).build();
  }

  /** The row without a list: the bits of the group tell again what the group may do. */
  public static InodeRow without(InodeRow row) {
    InodeRow.Builder changed = row.toBuilder().clearAccessAcl().clearDefaultAcl();
    for (AclEntryRowProto entry : row.getAccessAclList()) {
      if (entry.getType() == AclTypeProto.ACL_GROUP && !entry.hasName()) {
        changed.setPermission(row.getPermission() & ~0070 | entry.getPermission() << 3);
      }
    }
    return changed.build();
  }

  /** Sets the permission of a new inode, and the list that it gets from its directory. */
  public static InodeRow.Builder inherit(
      InodeRow.Builder child, InodeRow directory, CreateModes modes) {
    if (directory.getDefaultAclCount() == 0) {
      return child.setPermission(modes.masked());
    }
    if (child.getKind() == InodeKindProto.DIRECTORY) {
      child.addAllDefaultAcl(directory.getDefaultAclList());
    }
    FsPermission asked = new FsPermission((short) modes.asked());
    boolean isMinimal = directory.getDefaultAclCount() == MINIMAL;
    List<AclEntry> access = new ArrayList<>();
    for (AclEntryRowProto inherited : directory.getDefaultAclList()) {
      AclEntry entry = entry(AclEntryScope.ACCESS, inherited);
      access.add(with(entry, entry.getPermission().and(most(entry, asked, isMinimal))));
    }
    return setAccess(child.setPermission(asked.toShort()), access);
  }

  /** What an inherited entry may allow at most: what its class was asked for. */
  private static FsAction most(AclEntry entry, FsPermission asked, boolean isMinimal) {
    if (entry.getName() != null) {
      return FsAction.ALL;
    }
    return switch (entry.getType()) {
      case USER -> asked.getUserAction();
      case GROUP -> isMinimal ? asked.getGroupAction() : FsAction.ALL; // else the mask limits it
      case MASK -> asked.getGroupAction();
      case OTHER -> asked.getOtherAction();
    };
  }

  /** Sets all entries of the access list; the bit that is no entry stays. */
  private static InodeRow.Builder setAccess(InodeRow.Builder row, List<AclEntry> access) {
    row.clearAccessAcl();
    int mode = row.getPermission() & STICKY;
    boolean isMinimal = access.size() == MINIMAL;
    for (AclEntry entry : access) {
      int bits = entry.getPermission().ordinal();
      if (entry.getType() == AclEntryType.OTHER) {
        mode |= bits;
      } else if (entry.getType() == AclEntryType.MASK
          || isMinimal && entry.getType() == AclEntryType.GROUP) {
        mode |= bits << 3;
      } else if (entry.getType() == AclEntryType.USER && entry.getName() == null) {
        mode |= bits << 6;
      } else {
        row.addAccessAcl(message(entry));
      }
    }
    return row.setPermission(mode);
  }

  private static List<AclEntry> of(List<AclEntry> entries, AclEntryScope scope) {
    return entries.stream().filter(entry -> entry.getScope() == scope).toList();
  }

  private static AclEntry unnamed(AclEntryType type, FsAction permission) {
    return new AclEntry.Builder()
        .setScope(AclEntryScope.ACCESS)
        .setType(type)
        .setPermission(permission)
        .build();
  }

  private static AclEntry with(AclEntry entry, FsAction permission) {
    return new AclEntry.Builder()
        .setScope(entry.getScope())
        .setType(entry.getType())
        .setName(entry.getName())
        .setPermission(permission)
        .build();
  }

  private static AclEntry entry(AclEntryScope scope, AclEntryRowProto stored) {
    AclEntryType type =
        switch (stored.getType()) {
          case ACL_USER -> AclEntryType.USER;
          case ACL_GROUP -> AclEntryType.GROUP;
          case ACL_MASK -> AclEntryType.MASK;
          case ACL_OTHER -> AclEntryType.OTHER;
        };
    return new AclEntry.Builder()
        .setScope(scope)
        .setType(type)
        .setName(stored.hasName() ? stored.getName() : null)
        .setPermission(action(stored))
        .build();
  }

  private static AclEntryRowProto message(AclEntry entry) {
    AclTypeProto type =
        switch (entry.getType()) {
          case USER -> AclTypeProto.ACL_USER;
          case GROUP -> AclTypeProto.ACL_GROUP;
          case MASK -> AclTypeProto.ACL_MASK;
          case OTHER -> AclTypeProto.ACL_OTHER;
        };
    AclEntryRowProto.Builder message =
        AclEntryRowProto.newBuilder().setType(type).setPermission(entry.getPermission().ordinal());
    if (entry.getName() != null) {
      message.setName(entry.getName());
    }
    return message.build();
  }
}
