package io.ebbfs.namenode.rpc.server;

import io.ebbfs.namenode.store.ClientCall;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The answers of calls that must take effect once. A client that lost an answer sends the call
 * again, with the same client id and call id; it then gets the answer of the first run, or waits
 * for it. In memory: after a restart, and at another namenode, the row of {@link ClientCall} tells
 * that a call has taken effect. Thread-safe.
 */
public final class RetryAnswers {
  private static final int CLIENT_ID_BYTES = 16;
  private static final int ENTRY_BYTES = 200;
  private static final long KEEP_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** A call of a client. A call id is not used twice by one client object. */
  private record Id(long high, long low, int callId, String user, String method) {}

  private record Answer(byte[] result, long nanos) {
    private int bytes() {
      return result.length + ENTRY_BYTES;
    }
  }

  private final long limitBytes;
  private final Map<Id, List<RpcCall>> running = new HashMap<>();
  // In the order of their age.
  private final LinkedHashMap<Id, Answer> answers = new LinkedHashMap<>();
  private long bytes;

  /** Keeps answers for ten minutes, the newest ones if they take more than the limit. */
  public RetryAnswers(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  private static Id idOf(RpcCall call) {
    byte[] client = call.header().clientId();
    if (client.length != CLIENT_ID_BYTES) {
      return null;
    }
    ByteBuffer id = ByteBuffer.wrap(client);
    return new Id(
        id.getLong(),
        id.getLong(),
        call.header().callId(),
        call.caller().user().name(),
        call.method().name());
  }

  /**
   * Notes that a call begins.
   *
   * @return whether the call is to be run. If not, it was answered or waits for its first run
   */
  boolean begin(RpcCall call) {
    Id id = idOf(call);
    if (id == null) {
      return true;
    }
    Answer answer;
    synchronized (this) {
      answer = answers.get(id);
      if (answer == null) {
        List<RpcCall> waiting = running.putIfAbsent(id, new ArrayList<>(0));
        if (waiting == null) {
          return true;
        }
        waiting.add(call);
        return false;
      }
    }
    call.succeed(answer.result());
    return false;
  }

  /** Keeps the answer of a call, and gives it to the repetitions that wait. */
  void succeeded(RpcCall call, byte[] result) {
    Id id = idOf(call);
    if (id != null) {
      keep(id, new Answer(result, System.nanoTime())).forEach(waiting -> waiting.succeed(result));
    }
  }

  private synchronized List<RpcCall> keep(Id id, Answer answer) {
    answers.put(id, answer);
    bytes += answer.bytes();
    Iterator<Answer> oldest = answers.values().iterator();
    for (Answer old = oldest.next(); isTooMuch(old, answer.nanos()); old = oldest.next()) {
      oldest.remove();
      bytes -= old.bytes();
      if (answers.isEmpty()) {
        break;
      }
    }
    return running.remove(id);
  }

  private boolean isTooMuch(Answer oldest, long now) {
    return bytes > limitBytes || now - oldest.nanos() > KEEP_NANOS;
  }

  /** Forgets a call that failed. Returns its repetitions, which may run now. */
  synchronized List<RpcCall> failed(RpcCall call) {
    Id id = idOf(call);
    return id == null ? List.of() : running.remove(id);
  }
}
