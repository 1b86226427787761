package io.ebbfs.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * A record that tells who has appended it.
 *
 * @param life which process of the producer, from 0
 */
record NumberedRecord(int producer, int life, long number) {
  static final int BYTES = 16;

  byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putInt(producer).putInt(life).putLong(number).array();
  }

  /** All records of a file, in order. */
  static List<NumberedRecord> read(DistributedFileSystem files, Path path) throws IOException {
    byte[] bytes;
    try (var in = files.open(path)) {
      bytes = in.readAllBytes();
    }
    List<NumberedRecord> found = new ArrayList<>();
    for (ByteBuffer in = ByteBuffer.wrap(bytes); in.remaining() >= BYTES; ) {
      found.add(new NumberedRecord(in.getInt(), in.getInt(), in.getLong()));
    }
    return found;
  }
}
