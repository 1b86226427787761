package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.CodedOutputStream;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Writes of a transaction in the serialized form of RocksDB's write batch, so that they cross the
 * native interface in one call instead of one for each row. The form is that of RocksDB's
 * write_batch.cc: a sequence number (8 bytes, 0), the count of records (4 bytes, little endian),
 * and the records: a tag, the id of the column family, the key, and for a put the value, each with
 * its length in front; numbers are varints.
 */
final class BatchBytes {
  private static final int HEADER = 12;
  private static final int COUNT_AT = 8;
  private static final int DELETE = 4; // kTypeColumnFamilyDeletion
  private static final int PUT = 5; // kTypeColumnFamilyValue

  /** Tells the id of the column family of a table. */
  @FunctionalInterface
  interface Families {
    int id(Table<?> table);
  }

  private BatchBytes() {}

  /** The batch of these writes; null deletes a row. */
  static byte[] of(Map<RowKey, MessageLite> writes, Families families) {
    byte[] bytes = new byte[size(writes, families)];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(COUNT_AT, writes.size());
    CodedOutputStream out = CodedOutputStream.newInstance(bytes, HEADER, bytes.length - HEADER);
    try {
      for (Map.Entry<RowKey, MessageLite> write : writes.entrySet()) {
        write(out, families.id(write.getKey().table()), write.getKey().key(), write.getValue());
      }
      out.checkNoSpaceLeft();
    } catch (IOException e) {
      throw new IllegalStateException("a batch has another size than was computed", e);
    }
    return bytes;
  }

  private static void write(CodedOutputStream out, int family, Key key, MessageLite row)
      throws IOException {
    out.write((byte) (row == null ? DELETE : PUT));
    out.writeUInt32NoTag(family);
    out.writeUInt32NoTag(key.encodedLength());
    out.writeFixed64NoTag(Long.reverseBytes(key.partition())); // big endian
    out.writeRawBytes(key.rest());
    if (row != null) {
      out.writeUInt32NoTag(row.getSerializedSize());
      row.writeTo(out);
    }
  }

  private static int size(Map<RowKey, MessageLite> writes, Families families) {
    int size = HEADER;
    for (Map.Entry<RowKey, MessageLite> write : writes.entrySet()) {
      int key = write.getKey().key().encodedLength();
      size += 1 + varint(families.id(write.getKey().table())) + varint(key) + key;
      if (write.getValue() != null) {
        int row = write.getValue().getSerializedSize();
        size += varint(row) + row;
      }
    }
    return size;
  }

  private static int varint(int number) {
    return CodedOutputStream.computeUInt32SizeNoTag(number);
  }
}
