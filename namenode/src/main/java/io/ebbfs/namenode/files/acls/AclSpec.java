package io.ebbfs.namenode.files.acls;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.hdfs.protocol.AclException;

/** The entries that a call names, by scope, type and name. Immutable. */
final class AclSpec {
  private static final int MOST_ENTRIES = 32;
  private static final int MOST_NAME_BYTES = 255;

  /** Access entries first, then by type (owner, group, mask, other), without a name first. */
  static final Comparator<AclEntry> ORDER =
      Comparator.comparing(AclEntry::getScope)
          .thenComparing(AclEntry::getType)
          .thenComparing(AclEntry::getName, Comparator.nullsFirst(Comparator.naturalOrder()));

  private final Map<AclEntry, AclEntry> entries = new TreeMap<>(ORDER);
  private final Set<AclEntryScope> scopes = EnumSet.noneOf(AclEntryScope.class);

  private AclSpec(List<AclEntry> named) throws AclException {
    for (AclEntryScope scope : AclEntryScope.values()) {
      checkNumber(scope, (int) named.stream().filter(entry -> entry.getScope() == scope).count());
    }
    for (AclEntry entry : named) {
      entries.put(entry, entry);
      scopes.add(entry.getScope());
    }
  }

  /** Checks the number of entries of one list. */
  static void checkNumber(AclEntryScope scope, int entries) throws AclException {
    if (entries > MOST_ENTRIES) {
      throw new AclException(
          "Invalid ACL: ACL has %d %s entries, which exceeds maximum of %d."
              .formatted(entries, scope.name().toLowerCase(Locale.ROOT), MOST_ENTRIES));
    }
  }

  /** Entries to be removed. One that names nothing removes nothing. */
  static AclSpec toRemove(List<AclEntry> named) throws AclException {
    return new AclSpec(named);
  }

  /**
   * Entries to be set.
   *
   * @throws AclException if two of them are of the same scope, type and name
   */
  static AclSpec toSet(List<AclEntry> named) throws AclException {
    AclSpec spec = new AclSpec(named);
    if (spec.entries.size() < named.size()) {
      throw new AclException("Invalid ACL: multiple entries with same scope, type and name.");
    }
    for (AclEntry entry : named) {
      if (entry.getName() != null) {
        checkName(entry);
      }
    }
    return spec;
  }

  private static void checkName(AclEntry entry) throws AclException {
    int bytes = entry.getName().getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MOST_NAME_BYTES) { // HDFS has no limit; here the row of an inode stays small
      throw new AclException(
          "Invalid ACL: the name '%.40s...' has %d bytes, and at most %d are allowed: use a group with a shorter name"
              .formatted(entry.getName(), bytes, MOST_NAME_BYTES));
    }
  }

  /** The entry of the same scope, type and name. */
  Optional<AclEntry> same(AclEntry entry) {
    return Optional.ofNullable(entries.get(entry));
  }

  Iterable<AclEntry> entries() {
    return entries.values();
  }

  boolean names(AclEntryScope scope) {
    return scopes.contains(scope);
  }
}
