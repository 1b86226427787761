package io.ebbfs.namenode.rpc.server;

import java.net.InetAddress;
import org.apache.hadoop.ipc.CallerContext;

/**
 * Who made the call that a thread answers. Immutable.
 *
 * @param address of the caller's end of the connection
 * @param context the caller context of the call; null if it has none
 */
public record CurrentCall(RemoteUser user, InetAddress address, CallerContext context) {
  private static final ThreadLocal<CurrentCall> OF_THREAD = new ThreadLocal<>();

  /** The call that this thread answers; null if it answers none. */
  public static CurrentCall get() {
    return OF_THREAD.get();
  }

  static void set(CurrentCall call) {
    OF_THREAD.set(call);
  }

  static void clear() {
    OF_THREAD.set(null);
  }

  CurrentCall with(CallerContext other) {
    return other == null ? this : new CurrentCall(user, address, other);
  }
}
