package io.ebbfs.namenode.rpc.server;

import java.util.Set;
import org.apache.hadoop.security.UserGroupInformation;

/** The user of a connection. Thread-safe. */
public final class RemoteUser {
  private final UserGroupInformation user;
  private final String name;

  RemoteUser(UserGroupInformation user) {
    this.user = user;
    this.name = user.getShortUserName();
  }

  public String name() {
    return name;
  }

  /** The groups of the user on this machine. The first look-up of a user takes long. */
  public Set<String> groups() {
    return user.getGroupsSet();
  }
}
