package io.ebbfs.verify.append;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A record that tells its length, its writer and its number, and whose other bytes follow from
 * these.
 */
record TestRecord(int writer, int number) {
  private static final int HEADER_BYTES = 12;
  private static final int MOST_BYTES = 4_000;

  byte[] bytes() {
    Random random = new Random(writer * 1_000_003L + number);
    byte[] bytes = new byte[HEADER_BYTES + random.nextInt(MOST_BYTES)];
    random.nextBytes(bytes);
    ByteBuffer.wrap(bytes).putInt(bytes.length).putInt(writer).putInt(number);
    return bytes;
  }

  @Override
  public int hashCode() {
    return writer * 1_000_003 + number;
  }

  /** All records of a file. Fails if a record is not whole. */
  static List<TestRecord> parse(byte[] file) {
    List<TestRecord> records = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(file);
    while (in.hasRemaining()) {
      int begin = in.position();
      int length = in.remaining() < HEADER_BYTES ? -1 : in.getInt();
      if (length < HEADER_BYTES || length > file.length - begin) {
        throw new AssertionError("no record at byte %d of %d".formatted(begin, file.length));
      }
      TestRecord record = new TestRecord(in.getInt(), in.getInt());
      byte[] bytes = new byte[length];
      in.position(begin).get(bytes);
      if (!java.util.Arrays.equals(bytes, record.bytes())) {
        throw new AssertionError("%s at byte %d is not whole".formatted(record, begin));
      }
      records.add(record);
    }
    return records;
  }
}
