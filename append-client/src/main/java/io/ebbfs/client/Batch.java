package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchProto;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;

/** Whole records that are sent together. Not thread-safe. */
final class Batch {
  private final long firstRecord;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final List<CompletableFuture<Void>> stored = new ArrayList<>();

  Batch(long firstRecord) {
    this.firstRecord = firstRecord;
  }

  /** The result is complete once the record is stored. */
  CompletableFuture<Void> add(byte[] record, int offset, int length) {
    bytes.write(record, offset, length);
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
    return bytes.size();
  }

  byte[] bytes() {
    return bytes.toByteArray();
  }

  static BatchProto header(long firstRecord, int records, byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return BatchProto.newBuilder()
        .setFirstRecord(firstRecord)
        .setRecords(records)
        .setLengthBytes(bytes.length)
        .setChecksum((int) checksum.getValue())
        .build();
  }

  void complete() {
    stored.forEach(future -> future.complete(null));
  }

  void fail(Exception why) {
    stored.forEach(future -> future.completeExceptionally(why));
  }
}
