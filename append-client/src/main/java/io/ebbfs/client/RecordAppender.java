package io.ebbfs.client;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Appends records to a file to which other writers append at the same time. Each record lands in
 * the file as a whole and once, in no order between writers, and in order for one writer. A record
 * is stored once its future completes or {@link #flush} returns: all servers of its block have it.
 * Readers see it once its lane is sealed: when the block is full and a writer has opened the next
 * one, when the lane was idle or has the age of {@link AppendOptions#ageMillis}, when the last
 * writer of the lane closes, or by {@link #sealAll} or {@link #finish}.
 *
 * <p>A producer that is started again after a failure, and must not store a record twice, opens
 * with an {@linkplain #open(DistributedFileSystem, Path, UUID, AppendOptions) id of its own}. Its
 * records are numbered from 0 in the order in which it appends them; {@link #lastStored} tells
 * where it goes on.
 *
 * <p>Thread-safe; the records of one thread keep their order. A record whose future fails may be in
 * the file or not. {@code docs/record-append.md} describes how it works.
 */
public final class RecordAppender implements Closeable {
  private final PendingBatches batches;
  private final AppendWorker worker;
  private final Callbacks callbacks;
  private final long firstRecord;

  private RecordAppender(
      LaneFiles files,
      LaneFinder finder,
      AppendWorker.Identity identity,
      long firstRecord,
      AppendOptions options) {
    this.firstRecord = firstRecord;
    this.callbacks = new Callbacks("stored records of " + files.path());
    this.batches =
        new PendingBatches(
            firstRecord, options.batchBytes(), options.unacknowledgedBytes(), callbacks);
    this.worker = new AppendWorker(files, finder, identity, options, batches);
    worker.start();
  }

  /**
   * Opens the file for record appends, and creates it if it does not exist. The caller keeps the
   * file system open. The writer gets an id that nobody had before.
   *
   * @throws AppendException if the file lies below a snapshottable directory, or its blocks are
   *     groups of an erasure coding policy
   */
  public static RecordAppender open(DistributedFileSystem files, Path path, AppendOptions options)
      throws IOException {
    LaneFiles lanes = new LaneFiles(files, AppendedFile.require(files, path, options));
    LaneFinder finder = new LaneFinder(lanes, new LaneSealer(lanes), options);
    AppendWorker.Identity identity = new AppendWorker.Identity(UUID.randomUUID(), Optional.empty());
    return new RecordAppender(lanes, finder, identity, 0, options);
  }

  /**
   * Opens the file with an id that the producer keeps when it is started again, and goes on with
   * the number behind {@link #lastStored}. The process that opens with an id last has it: appends
   * of a process that opened with the same id before fail, except for records that are stored
   * already. If that process has not closed, its lane is sealed, and other writers of this lane go
   * on in another one. {@link #finish} forgets all ids.
   *
   * @param writer an id that no other producer of this file uses
   * @throws AppendException as in {@link #open(DistributedFileSystem, Path, AppendOptions)}, or if
   *     it cannot be found out which records are stored; the message tells what to do
   */
  public static RecordAppender open(
      DistributedFileSystem files, Path path, UUID writer, AppendOptions options)
      throws IOException {
    LaneFiles lanes = new LaneFiles(files, AppendedFile.require(files, path, options));
    LaneFinder finder = new LaneFinder(lanes, new LaneSealer(lanes), options);
    Patience patience = new Patience(lanes.path(), options.patienceMillis());
    try {
      WriterClaim claim = patience.repeat(deadline -> WriterClaim.take(lanes, writer));
      long next = patience.repeat(deadline -> claim.nextRecord(finder, deadline));
      AppendWorker.Identity identity = new AppendWorker.Identity(writer, Optional.of(claim));
      return new RecordAppender(lanes, finder, identity, next, options);
    } catch (InterruptedException stop) {
      throw interrupted();
    }
  }

  /**
   * The number of the last record that was stored with the id of this writer before this appender
   * was opened. All records with smaller numbers are stored, too. Empty if none is stored, and for
   * a writer without an id of its own.
   */
  public OptionalLong lastStored() {
    return firstRecord == 0 ? OptionalLong.empty() : OptionalLong.of(firstRecord - 1);
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
   * when all writers have closed: a writer that still waits for an answer may fail. Nobody knows
   * any more which records were stored with an id: a producer that opens with this id later begins
   * with number 0.
   *
   * @throws AppendException if records are left that cannot be moved to the file; the message tells
   *     what to do
   */
  public static void finish(DistributedFileSystem files, Path path) throws IOException {
    seal(files, path).removeAll();
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
