package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.Caller;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.RetryCache;
import org.apache.hadoop.ipc.RetryCache.CacheEntryWithPayload;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * The caller of the call that this thread handles, and the answers to retried calls. A client that
 * lost an answer sends the call again; {@link #once} then gives the answer of the first run.
 * Thread-safe.
 */
final class CallContext {
  /** A call that must take effect once, even if it arrives twice. */
  @FunctionalInterface
  interface Call<R> {
    R run() throws IOException;
  }

  private static final double HEAP_PERCENT = 0.1;
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Caller.Superuser superuser;
  // In memory: after a restart, a retried call is a new call.
  private final RetryCache answers = new RetryCache("EbbFsRetryCache", HEAP_PERCENT, KEEP_NANOS);

  CallContext(Caller.Superuser superuser) {
    this.superuser = superuser;
  }

  Caller caller() throws IOException {
    UserGroupInformation remote = Server.getRemoteUser();
    UserGroupInformation user = remote != null ? remote : UserGroupInformation.getCurrentUser();
    return new Caller(user.getShortUserName(), () -> user.getGroupsSet(), superuser);
  }

  /** The address of the client, as HDFS names its machine. */
  String clientMachine() {
    String address = Server.getRemoteAddress();
    return address == null ? "" : address;
  }

  /** Runs a call, or returns the answer of its earlier run. */
  @SuppressWarnings("unchecked") // the payload of an entry is the result of the same call
  <R> R once(Call<R> call) throws IOException {
    CacheEntryWithPayload entry =
        RetryCache.waitForCompletion(answers, null, Server.getClientId(), Server.getCallId());
    if (entry != null && entry.isSuccess()) {
      return (R) entry.getPayload();
    }
    boolean done = false;
    R result = null;
    try {
      result = call.run();
      done = true;
      return result;
    } finally {
      RetryCache.setState(entry, done, result);
    }
  }
}
