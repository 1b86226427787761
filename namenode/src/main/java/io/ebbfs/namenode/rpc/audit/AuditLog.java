package io.ebbfs.namenode.rpc.audit;

import io.ebbfs.common.files.RotatedFile;
import io.ebbfs.namenode.rpc.server.CurrentCall;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A line for each call of a client that HDFS audits, in the format of HDFS. A call only notes its
 * bytes in a queue; a thread reads them and writes the lines. If the thread falls behind by {@link
 * #QUEUE_BYTES}, lines are dropped and counted: no call waits. Thread-safe.
 */
public final class AuditLog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);
  private static final long QUEUE_BYTES = 32L << 20;

  /** What a call takes beside the bytes of its request. */
  private static final int ENTRY_BYTES = 200;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long CLOSE_MILLIS = 5_000;

  private final Queue<AuditedCall> queue = new ConcurrentLinkedQueue<>();
  private final AtomicLong queuedBytes = new AtomicLong();
  private final LongAdder dropped = new LongAdder();
  private final RotatedFile file;
  private final Thread writer = new Thread(this::writeAll, "audit-log");
  private volatile boolean closing;
  private boolean failed;

  private AuditLog(RotatedFile file) {
    this.file = file;
    writer.setDaemon(true);
  }

  /**
   * Opens the log.
   *
   * @throws IOException with a message for the operator if the file cannot be written
   */
  public static AuditLog open(Path file) throws IOException {
    AuditLog log = new AuditLog(RotatedFile.open(file, "auditLog in namenode.yaml"));
    log.writer.start();
    return log;
  }

  /** The handler of a method, whose calls are noted; the handler itself if HDFS audits none. */
  public MethodHandler around(String method, MethodHandler handler) {
    return AuditedMethods.isAudited(method)
        ? (f, o, l) -> noted(method, handler, f, o, l)
        : handler;
  }

  private byte[] noted(String method, MethodHandler handler, byte[] frame, int offset, int length)
      throws IOException {
    byte[] answer;
    try {
      answer = handler.answer(frame, offset, length);
    } catch (AccessControlException e) {
      note(method, false, frame, offset, length, null);
      throw e;
    }
    note(method, true, frame, offset, length, answer);
    return answer;
  }

  private void note(
      String method, boolean allowed, byte[] frame, int offset, int length, byte[] answer) {
    CurrentCall caller = CurrentCall.get();
    if (caller == null) {
      return;
    }
    AuditedCall call =
        new AuditedCall(
            System.currentTimeMillis(),
            method,
            allowed,
            caller.user(),
            caller.address(),
            frame,
            offset,
            length,
            AuditedMethods.tellsAnswer(method) ? answer : null);
    if (queuedBytes.get() > QUEUE_BYTES) {
      dropped.increment();
    } else {
      queuedBytes.addAndGet(heldBytes(call));
      queue.add(call);
    }
  }

  private static long heldBytes(AuditedCall call) {
    return ENTRY_BYTES + call.frame().length + (call.answer() == null ? 0 : call.answer().length);
  }

  /** Lines that were dropped because the queue was full or the file could not be written. */
  public long dropped() {
    return dropped.sum();
  }

  private void writeAll() {
    while (!closing || !queue.isEmpty()) {
      boolean wrote = false;
      for (AuditedCall call = queue.poll(); call != null; call = queue.poll()) {
        queuedBytes.addAndGet(-heldBytes(call));
        write(call);
        wrote = true;
      }
      if (wrote) {
        tryWriting(file::flush);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void write(AuditedCall call) {
    try {
      String line = AuditedMethods.line(call);
      if (!tryWriting(() -> file.append(line))) {
        dropped.increment();
      }
    } catch (IOException | RuntimeException e) {
      dropped.increment();
      LOG.warn("no audit line for a call of {}", call.method(), e);
    }
  }

  private interface Write {
    void run() throws IOException;
  }

  /** The same trouble with the file is told once. */
  private boolean tryWriting(Write write) {
    try {
      write.run();
      failed = false;
      return true;
    } catch (IOException e) {
      if (!failed) {
        LOG.error("the audit log cannot be written; its lines are dropped until it can", e);
      }
      failed = true;
      return false;
    }
  }

  /** Writes what is queued, and closes the file. */
  @Override
  public void close() throws IOException, InterruptedException {
    closing = true;
    LockSupport.unpark(writer);
    writer.join(CLOSE_MILLIS);
    file.close();
  }
}
