package io.ebbfs.verify.append;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

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

  /**
   * Checks that each stored record is in the file, that no record is there twice, and that those of
   * a writer are in their order.
   */
  static void check(InputStream file, Set<TestRecord> stored) throws IOException {
    List<TestRecord> found = parse(file);
    Set<TestRecord> different = new HashSet<>(found);
    assertThat(different).as("no record twice").hasSize(found.size());
    Set<TestRecord> missing = new HashSet<>(stored);
    missing.removeIf(different::contains);
    assertThat(missing).as("stored records that the file lacks").isEmpty();
    Map<Integer, Integer> last = new TreeMap<>();
    for (TestRecord record : found) {
      Integer before = last.put(record.writer(), record.number());
      assertThat(record.number())
          .as("%s after %s", record, before)
          .isEqualTo(before == null ? 0 : before + 1);
    }
  }

  /** All records of a file, one after the other in memory. Fails if a record is not whole. */
  static List<TestRecord> parse(InputStream file) throws IOException {
    List<TestRecord> records = new ArrayList<>();
    InputStream in = new BufferedInputStream(file, 1 << 20);
    long begin = 0;
    for (byte[] header = in.readNBytes(HEADER_BYTES);
        header.length > 0;
        header = in.readNBytes(HEADER_BYTES)) {
      ByteBuffer numbers = ByteBuffer.wrap(Arrays.copyOf(header, HEADER_BYTES));
      int length = numbers.getInt();
      TestRecord record = new TestRecord(numbers.getInt(), numbers.getInt());
      if (header.length < HEADER_BYTES
          || length < HEADER_BYTES
          || length >= HEADER_BYTES + MOST_BYTES) {
        throw new AssertionError("no record at byte " + begin);
      }
      byte[] bytes = Arrays.copyOf(header, length);
      int read = in.readNBytes(bytes, HEADER_BYTES, length - HEADER_BYTES);
      if (read < length - HEADER_BYTES || !Arrays.equals(bytes, record.bytes())) {
        throw new AssertionError("%s at byte %d is not whole".formatted(record, begin));
      }
      records.add(record);
      begin += length;
    }
    return records;
  }
}
