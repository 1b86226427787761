package io.ebbfs.client;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Appends records to a file to which other writers append at the same time. Each record lands in
 * the file as a whole and once, in no order between writers, and in order for one writer. A record
 * is stored once its future completes or {@link #flush} returns: all servers of its block have it.
 * Readers see it once its lane is sealed: when the block is full and a writer has opened the next
 * one, when the lane was idle, when the last writer of the lane closes, or by {@link #sealAll} or
 * {@link #finish}.
 *
 * <p>Thread-safe; the records of one thread keep their order. A record whose future fails may be in
 * the file or not. {@code docs/record-append.md} describes how it works.
 */
public final class RecordAppender implements Closeable {
  private final PendingBatches batches;
  private final AppendWorker worker;
  private final Callbacks callbacks;

  private RecordAppender(LaneFiles files, AppendOptions options) {
    this.callbacks = new Callbacks("stored records of " + files.path());
    this.batches =
        new PendingBatches(options.batchBytes(), options.unacknowledgedBytes(), callbacks);
    this.worker = new AppendWorker(files, UUID.randomUUID(), options, batches);
  }

  /**
   * Opens the file for record appends, and creates it if it does not exist. The caller keeps the
   * file system open.
   *
   * @throws AppendException if the file lies below a snapshottable directory, or its blocks are
   *     groups of an erasure coding policy
   */
  public static RecordAppender open(DistributedFileSystem files, Path path, AppendOptions options)
      throws IOException {
    LaneFiles lanes = new LaneFiles(files, AppendedFile.require(files, path, options));
    RecordAppender appender = new RecordAppender(lanes, options);
    appender.worker.start();
    return appender;
  }

  /**
   * Appends a record, and waits while too many bytes are not stored yet.
   *
   * @return completes when the record is stored
   * @throws IllegalArgumentException if the record is empty or longer than {@link
   *     AppendOptions#MOST_RECORD_BYTES}
   */
  public CompletableFuture<Void> append(byte[] record) throws IOException {
    return append(record, 0, record.length);
  }

  /** Appends a record: {@code length} bytes from {@code offset}. */
  public CompletableFuture<Void> append(byte[] record, int offset, int length) throws IOException {
    if (length < 1 || length > AppendOptions.MOST_RECORD_BYTES) {
      throw new IllegalArgumentException(
          "a record of %d bytes cannot be appended; records have 1 to %d bytes"
              .formatted(length, AppendOptions.MOST_RECORD_BYTES));
    }
    try {
      return batches.add(record, offset, length);
    } catch (InterruptedException stop) {
      throw interrupted();
    }
  }

  /** Waits until all records that were appended before are stored. */
  public void flush() throws IOException {
    try {
      batches.flush();
    } catch (InterruptedException stop) {
      throw interrupted();
    }
  }

  /** Flushes, completes all futures, and seals the lane unless other writers use it. */
  @Override
  public void close() throws IOException {
    try {
      batches.close();
      worker.join();
      callbacks.await();
      batches.throwFailure();
    } catch (InterruptedException stop) {
      throw interrupted();
    }
  }

  /** Seals all lanes of the file, also those that writers use, who go on in other lanes. */
  public static void sealAll(DistributedFileSystem files, Path path) throws IOException {
    seal(files, path);
  }

  /**
   * Seals all lanes and removes what the record appends have left beside the file. To be called
   * when all writers have closed: a writer that still waits for an answer may fail.
   *
   * @throws AppendException if records are left that cannot be moved to the file; the message tells
   *     what to do
   */
  public static void finish(DistributedFileSystem files, Path path) throws IOException {
    seal(files, path).removeLedgers();
  }

  private static LaneFiles seal(DistributedFileSystem files, Path path) throws IOException {
    AppendOptions options = AppendOptions.DEFAULT;
    String name = path.makeQualified(files.getUri(), files.getWorkingDirectory()).toUri().getPath();
    LaneFiles lanes = new LaneFiles(files, name);
    LaneSealer sealer = new LaneSealer(lanes);
    LaneFinder finder = new LaneFinder(lanes, sealer, options);
    Deadline deadline = Deadline.in(options.patienceMillis());
    try {
      for (LaneName lane : lanes.ledgers(Optional.empty())) {
        if (!lanes.isGone(lane)) {
          sealer.seal(lane, finder.awaitLane(lane), Optional.empty(), deadline);
        }
      }
      lanes.refuseLostLedgers();
      return lanes;
    } catch (InterruptedException stop) {
      throw interrupted();
    }
  }

  private static InterruptedIOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("the thread was interrupted while records were appended");
  }
}
