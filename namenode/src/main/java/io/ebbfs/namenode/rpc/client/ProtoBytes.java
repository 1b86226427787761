package io.ebbfs.namenode.rpc.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.thirdparty.protobuf.CodedOutputStream;
import org.apache.hadoop.thirdparty.protobuf.WireFormat;

/** Messages of protocol buffers that are written field by field, in one array of their size. */
final class ProtoBytes {
  /** Writes the fields of a message. */
  @FunctionalInterface
  interface Fields {
    void writeTo(CodedOutputStream out) throws IOException;
  }

  // A message whose only field, number 1, is a bool.
  private static final byte[] YES = {1 << 3, 1};
  private static final byte[] NO = {1 << 3, 0};

  private ProtoBytes() {}

  /** The answer of calls that answer yes or no. Not to be changed. */
  static byte[] answer(boolean yes) {
    return yes ? YES : NO;
  }

  /** The size of a message within another message, with its tag and its length. */
  static int delimited(int field, int bytes) {
    return CodedOutputStream.computeTagSize(field)
        + CodedOutputStream.computeUInt32SizeNoTag(bytes)
        + bytes;
  }

  /** Writes the tag and the length of a message within another message. */
  static void begin(CodedOutputStream out, int field, int bytes) throws IOException {
    out.writeTag(field, WireFormat.WIRETYPE_LENGTH_DELIMITED);
    out.writeUInt32NoTag(bytes);
  }

  /** A message whose fields take exactly that many bytes. */
  static byte[] of(int size, Fields fields) {
    byte[] message = new byte[size];
    CodedOutputStream out = CodedOutputStream.newInstance(message);
    try {
      fields.writeTo(out);
      out.checkNoSpaceLeft();
      return message;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
