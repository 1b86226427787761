package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.store.Key;
import java.io.IOException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/** The position between two pages of a listing: the key of the last row of the page before. */
final class Cursor {
  private Cursor() {}

  /** The key, or null for the first page. */
  static Key parse(boolean present, ByteString cursor) throws IOException {
    if (!present || cursor.isEmpty()) {
      return null;
    }
    if (cursor.size() < Long.BYTES) {
      throw new IOException(
          "a cursor of %d bytes is none of ours: pass the one of the previous page"
              .formatted(cursor.size()));
    }
    return Key.decode(cursor.toByteArray());
  }

  static ByteString of(Key key) {
    return ByteString.copyFrom(key.encode());
  }

  static int limit(int asked, int most) {
    return asked <= 0 ? most : Math.min(asked, most);
  }
}
