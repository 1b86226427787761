package io.ebbfs.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The ledger of a lane: which records lie where in its block. The chunk server that leads the lane
 * writes it ({@code ledger_entry.h}).
 */
record LaneLedger(List<Entry> entries) {
  static final int ENTRY_BYTES = 48;
  private static final int CHECKED_BYTES = 44;

  /**
   * One batch.
   *
   * @param end the length of the block after the batch
   */
  record Entry(UUID writer, long firstRecord, int records, int lengthBytes, long end) {}

  /** The entries up to the first one that is torn. */
  static LaneLedger decode(byte[] bytes) {
    List<Entry> entries = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long end = 0;
    while (in.remaining() >= ENTRY_BYTES) {
      CRC32C checksum = new CRC32C();
      checksum.update(bytes, in.position(), CHECKED_BYTES);
      Entry entry =
          new Entry(
              new UUID(in.getLong(), in.getLong()),
              in.getLong(),
              in.getInt(),
              in.getInt(),
              in.getLong());
      in.getInt(); // the checksum of the records
      if (in.getInt() != (int) checksum.getValue() || entry.end != end + entry.lengthBytes) {
        break;
      }
      end = entry.end;
      entries.add(entry);
    }
    return new LaneLedger(entries);
  }

  /** The length of the whole batches in a block of this length. */
  long wholeBytes(long blockBytes) {
    return entries.stream().mapToLong(Entry::end).filter(end -> end <= blockBytes).max().orElse(0);
  }

  /** Whether the batch lies in the first bytes of the block. */
  boolean holds(UUID writer, long firstRecord, long sealedBytes) {
    return entries.stream()
        .anyMatch(
            entry ->
                entry.end <= sealedBytes
                    && entry.writer.equals(writer)
                    && entry.firstRecord == firstRecord);
  }

  /** The greatest number of a record of the writer in the first bytes of the block. */
  OptionalLong lastRecord(UUID writer, long sealedBytes) {
    return entries.stream()
        .filter(entry -> entry.end <= sealedBytes && entry.writer.equals(writer))
        .mapToLong(entry -> entry.firstRecord + entry.records - 1)
        .max();
  }
}
