package io.ebbfs.namenode.files.acls;

import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclEntryType;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.AclException;

/**
 * Changes of a whole access control list, by the rules of HDFS: a default list gets what it lacks
 * from the access list, and a list with named entries has a mask, which is the union of what its
 * group and its named entries allow unless the call sets it. Pure functions of sorted lists.
 */
final class AclChanges {
  private static final List<AclEntryType> REQUIRED =
      List.of(AclEntryType.USER, AclEntryType.GROUP, AclEntryType.OTHER);

  private AclChanges() {}

  /** Adds the entries of a call, or puts them in the place of those of the same name. */
  static List<AclEntry> modify(List<AclEntry> present, AclSpec spec) throws AclException {
    Draft draft = new Draft();
    for (AclEntry entry : present) {
      if (spec.same(entry).isEmpty()) {
        draft.keep(entry);
      }
    }
    for (AclEntry entry : spec.entries()) {
      draft.set(entry);
    }
    return draft.complete();
  }

  /** Removes the entries that a call names; their permissions do not matter. */
  static List<AclEntry> remove(List<AclEntry> present, AclSpec spec) throws AclException {
    Draft draft = new Draft();
    for (AclEntry entry : present) {
      if (spec.same(entry).isEmpty()) {
        draft.keep(entry);
      } else {
        draft.note(entry); // and leave it out
      }
    }
    return draft.complete();
  }

  /** Replaces the access list, the default list, or both, by what the entries of a call are of. */
  static List<AclEntry> replace(List<AclEntry> present, AclSpec spec) throws AclException {
    Draft draft = new Draft();
    for (AclEntry entry : present) {
      if (!spec.names(entry.getScope())) {
        draft.keep(entry);
      }
    }
    for (AclEntry entry : spec.entries()) {
      draft.set(entry);
    }
    return draft.complete();
  }

  static List<AclEntry> withoutDefault(List<AclEntry> present) {
    return present.stream().filter(entry -> entry.getScope() == AclEntryScope.ACCESS).toList();
  }

  /** A list in the making. Used by one thread. */
  private static final class Draft {
    private final TreeSet<AclEntry> entries = new TreeSet<>(AclSpec.ORDER);
    private final Map<AclEntryScope, AclEntry> masks = new EnumMap<>(AclEntryScope.class);
    private final Map<AclEntryScope, Boolean> changed = new EnumMap<>(AclEntryScope.class);

    /** Takes over an entry as it is. */
    private void keep(AclEntry entry) {
      if (entry.getType() == AclEntryType.MASK) {
        masks.put(entry.getScope(), entry);
      } else {
        entries.add(entry);
      }
    }

    /** Takes an entry that the call names. */
    private void set(AclEntry entry) {
      note(entry);
      keep(entry);
    }

    /** Notes that the list of a scope changes, and whether the call decides about its mask. */
    private void note(AclEntry entry) {
      changed.merge(
          entry.getScope(), entry.getType() == AclEntryType.MASK, (one, other) -> one || other);
    }

    private List<AclEntry> complete() throws AclException {
      completeDefault();
      for (AclEntryScope scope : AclEntryScope.values()) {
        mask(scope).ifPresent(entries::add);
      }
      checkNames();
      for (AclEntryScope scope : AclEntryScope.values()) {
        check(scope);
      }
      return List.copyOf(entries);
    }

    private List<AclEntry> of(AclEntryScope scope) {
      return entries.stream().filter(entry -> entry.getScope() == scope).toList();
    }

    private Optional<AclEntry> unnamed(AclEntryScope scope, AclEntryType type) {
      return find(of(scope), type);
    }

    private void completeDefault() {
      if (of(AclEntryScope.DEFAULT).isEmpty()) {
        return;
      }
      for (AclEntryType type : REQUIRED) {
        if (unnamed(AclEntryScope.DEFAULT, type).isEmpty()) {
          unnamed(AclEntryScope.ACCESS, type)
              .ifPresent(
                  access ->
                      entries.add(entry(AclEntryScope.DEFAULT, type, access.getPermission())));
        }
      }
    }

    /** The mask that the list of a scope gets, if it has one. */
    private Optional<AclEntry> mask(AclEntryScope scope) throws AclException {
      List<AclEntry> all = of(scope);
      if (all.isEmpty()) {
        return Optional.empty();
      }
      boolean isNeeded = all.stream().anyMatch(entry -> entry.getName() != null);
      Optional<AclEntry> given = Optional.ofNullable(masks.get(scope));
      boolean isNamed = changed.getOrDefault(scope, false);
      if (given.isEmpty() && isNeeded && isNamed) {
        throw new AclException("Invalid ACL: mask is required and cannot be deleted.");
      }
      if (given.isPresent() && (isNamed || !changed.containsKey(scope))) {
        return given;
      }
      return isNeeded ? Optional.of(entry(scope, AclEntryType.MASK, union(all))) : Optional.empty();
    }

    /** As at HDFS, only what stays in a list is checked: a mask of an empty list is dropped. */
    private void checkNames() throws AclException {
      for (AclEntry entry : entries) {
        boolean isNameless =
            entry.getType() == AclEntryType.MASK || entry.getType() == AclEntryType.OTHER;
        if (isNameless && entry.getName() != null) {
          throw new AclException(
              "Invalid ACL: this entry type must not have a name: " + entry + ".");
        }
      }
    }

    private void check(AclEntryScope scope) throws AclException {
      boolean isDefault = scope == AclEntryScope.DEFAULT;
      List<AclEntry> all = of(scope);
      AclSpec.checkNumber(scope, all.size());
      if (isDefault && all.isEmpty()) {
        return;
      }
      for (AclEntryType type : REQUIRED) {
        if (find(all, type).isEmpty()) {
          throw new AclException(
              "Invalid %sACL: the user, group and other entries are required."
                  .formatted(isDefault ? "default " : ""));
        }
      }
    }
  }

  private static Optional<AclEntry> find(Collection<AclEntry> entries, AclEntryType type) {
    return entries.stream()
        .filter(entry -> entry.getType() == type && entry.getName() == null)
        .findFirst();
  }

  private static FsAction union(List<AclEntry> entries) {
    FsAction union = FsAction.NONE;
    for (AclEntry entry : entries) {
      if (entry.getType() == AclEntryType.GROUP || entry.getName() != null) {
        union = union.or(entry.getPermission());
      }
    }
    return union;
  }

  private static AclEntry entry(AclEntryScope scope, AclEntryType type, FsAction permission) {
    return new AclEntry.Builder().setScope(scope).setType(type).setPermission(permission).build();
  }
}
