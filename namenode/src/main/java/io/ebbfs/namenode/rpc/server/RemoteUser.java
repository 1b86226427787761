package io.ebbfs.namenode.rpc.server;

import io.ebbfs.namenode.store.NonBlocking;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.security.UserGroupInformation;

/** The user of a connection. Thread-safe. */
public final class RemoteUser {
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** How often an operator has asked for groups to be looked up anew. */
  private static final AtomicLong REFRESHES = new AtomicLong();

  private record Groups(Set<String> names, long nanos, long refreshes) {}

  private final UserGroupInformation user;
  private final String name;
  private volatile Groups groups;

  RemoteUser(UserGroupInformation user) {
    this.user = user;
    this.name = user.getShortUserName();
  }

  /** A user whom another namenode has authorized. */
  static RemoteUser named(String name) {
    return new RemoteUser(UserGroupInformation.createRemoteUser(name));
  }

  /** Has the groups of all users looked up anew when they are needed next. */
  public static void forgetGroups() {
    REFRESHES.incrementAndGet();
  }

  public String name() {
    return name;
  }

  /** The groups of the user on this machine. May ask the system, which takes long. */
  public Set<String> groups() {
    Groups known = groups;
    long refreshes = REFRESHES.get();
    if (known == null
        || known.refreshes() != refreshes
        || System.nanoTime() - known.nanos() > KEEP_NANOS) {
      NonBlocking.beforeWait();
      known = new Groups(user.getGroupsSet(), System.nanoTime(), refreshes);
      groups = known;
    }
    return known.names();
  }

  @Override
  public String toString() {
    return name;
  }
}
