package io.ebbfs.namenode.files.inodes;

import java.util.Set;
import java.util.function.Supplier;

/**
 * The user who calls an operation. Groups are looked up only when a decision needs them, and at
 * most once. Used by one thread.
 */
public final class Caller {
  private final String user;
  private final Supplier<Set<String>> lookUpGroups;
  private final Superuser superuser;
  private Set<String> groups;

  /** The user that started the namenode, and a group: both may do everything. */
  public record Superuser(String user, String group) {}

  public Caller(String user, Supplier<Set<String>> lookUpGroups, Superuser superuser) {
    this.user = user;
    this.lookUpGroups = lookUpGroups;
    this.superuser = superuser;
  }

  public String user() {
    return user;
  }

  public boolean isIn(String group) {
    if (groups == null) {
      groups = lookUpGroups.get();
    }
    return groups.contains(group);
  }

  public boolean isSuperuser() {
    return user.equals(superuser.user()) || isIn(superuser.group());
  }
}
