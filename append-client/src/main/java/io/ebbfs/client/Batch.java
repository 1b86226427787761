package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchProto;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;

/** Whole records that are sent together. Not thread-safe. */
final class Batch {
  private final long firstRecord;
  private byte[] buffer = new byte[0];
  private int length;
  private final List<CompletableFuture<Void>> stored = new ArrayList<>();

  Batch(long firstRecord) {
    this.firstRecord = firstRecord;
  }

  /** The result is complete once the record is stored. */
  CompletableFuture<Void> add(byte[] record, int offset, int length) {
    if (buffer.length - this.length < length) {
      buffer = Arrays.copyOf(buffer, Math.max(2 * buffer.length, this.length + length));
    }
    System.arraycopy(record, offset, buffer, this.length, length);
    this.length += length;
    CompletableFuture<Void> future = new CompletableFuture<>();
    stored.add(future);
    return future;
  }

  long firstRecord() {
    return firstRecord;
  }

  int records() {
    return stored.size();
  }

  int lengthBytes() {
    return length;
  }

  /** Writes the message of the batch, and the records behind it. */
  void writeTo(OutputStream out) throws IOException {
    CRC32C checksum = new CRC32C();
    checksum.update(buffer, 0, length);
    BatchProto.newBuilder()
        .setFirstRecord(firstRecord)
        .setRecords(records())
        .setLengthBytes(length)
        .setChecksum((int) checksum.getValue())
        .build()
        .writeDelimitedTo(out);
    out.write(buffer, 0, length);
  }

  void complete() {
    stored.forEach(future -> future.complete(null));
  }

  void fail(Exception why) {
    stored.forEach(future -> future.completeExceptionally(why));
  }
}
