package io.ebbfs.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The records of a writer that are not stored yet, as batches in order: batches that were sent, and
 * behind them batches that were not. While an answer is awaited, records gather until a batch is
 * full: a batch for each record would cost a message and an answer each. Thread-safe.
 */
final class PendingBatches {
  private final int batchBytes;
  private final int mostBytes;

  /** Completes futures. What hangs on a future may wait, and must not keep answers from coming. */
  private final Executor callbacks;

  private final Deque<Batch> sent = new ArrayDeque<>();
  private final Deque<Batch> waiting = new ArrayDeque<>();
  private long nextRecord;
  private long bytes;
  private boolean closed;
  private boolean woken;
  private Exception failure;

  /**
   * @param firstRecord the number of the first record
   */
  PendingBatches(long firstRecord, int batchBytes, int mostBytes, Executor callbacks) {
    this.nextRecord = firstRecord;
    this.batchBytes = batchBytes;
    this.mostBytes = mostBytes;
    this.callbacks = callbacks;
  }

  synchronized CompletableFuture<Void> add(byte[] record, int offset, int length)
      throws IOException, InterruptedException {
    while (failure == null && !closed && bytes > 0 && bytes + length > mostBytes) {
      wait();
    }
    throwFailure();
    if (closed) {
      throw new IOException("the appender is closed; open another one");
    }
    Batch last = waiting.peekLast();
    if (last == null || last.lengthBytes() + length > batchBytes) {
      last = new Batch(nextRecord);
      waiting.add(last);
    }
    nextRecord++;
    bytes += length;
    notifyAll();
    return last.add(record, offset, length);
  }

  synchronized void flush() throws IOException, InterruptedException {
    long until = nextRecord;
    while (failure == null && firstUnstored() < until) {
      wait();
    }
    throwFailure();
  }

  /** The number of the first record that is not stored. */
  synchronized long firstUnstored() {
    Batch first = sent.isEmpty() ? waiting.peek() : sent.peek();
    return first == null ? nextRecord : first.firstRecord();
  }

  /** No record is taken any more. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }

  synchronized void throwFailure() throws IOException {
    if (failure != null) {
      throw new AppendException("records could not be appended: " + failure.getMessage(), failure);
    }
  }

  /** Makes {@link #awaitWork} return. */
  synchronized void wake() {
    woken = true;
    notifyAll();
  }

  /** Waits until a batch is to be sent, the writer closes and all is stored, or somebody wakes. */
  synchronized void awaitWork() throws InterruptedException {
    while (!woken && !isReady() && !isDone()) {
      wait();
    }
    woken = false;
  }

  synchronized boolean isDone() {
    return closed && sent.isEmpty() && waiting.isEmpty();
  }

  /** Whether there are batches that are not stored. */
  synchronized boolean hasPending() {
    return !sent.isEmpty() || !waiting.isEmpty();
  }

  /** Whether a batch is to be sent now: a full one, or any if no answer is awaited. */
  synchronized boolean isReady() {
    return waiting.size() > 1
        || !waiting.isEmpty() && (sent.isEmpty() || waiting.peek().lengthBytes() >= batchBytes);
  }

  /** The batch that is to be sent now. It counts as sent from now on. */
  synchronized Optional<Batch> send() {
    if (!isReady()) {
      return Optional.empty();
    }
    Batch next = waiting.remove();
    sent.add(next);
    return Optional.of(next);
  }

  /** The oldest batch that was sent is stored. */
  void stored(long firstRecord) {
    Batch batch;
    synchronized (this) {
      batch = sent.peek();
      if (batch == null || batch.firstRecord() != firstRecord) {
        throw new IllegalStateException(
            "batch %d was acknowledged out of order".formatted(firstRecord));
      }
      sent.remove();
      bytes -= batch.lengthBytes();
      notifyAll();
    }
    callbacks.execute(batch::complete);
  }

  /** The oldest batch that was sent and has no answer. */
  synchronized Optional<Long> oldestSent() {
    return Optional.ofNullable(sent.peek()).map(Batch::firstRecord);
  }

  /** All batches without an answer are to be sent again. */
  synchronized void sendAgain() {
    while (!sent.isEmpty()) {
      waiting.addFirst(sent.removeLast());
    }
  }

  /** All records that are not stored fail, now and later. */
  void fail(Exception why) {
    Deque<Batch> failed = new ArrayDeque<>();
    synchronized (this) {
      failure = why;
      failed.addAll(sent);
      failed.addAll(waiting);
      sent.clear();
      waiting.clear();
      notifyAll();
    }
    failed.forEach(batch -> callbacks.execute(() -> batch.fail(why)));
  }
}
