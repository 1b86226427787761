package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Table;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * The value of a row in the cache: the bytes of its message. A single byte 0, which is no message,
 * is a guard: the row does not exist, but somebody has locked it, and the version of the guard
 * tells.
 */
final class RowBytes {
  static final byte[] GUARD = {0};

  private RowBytes() {}

  static boolean isGuard(byte[] bytes) {
    return bytes.length == 1 && bytes[0] == 0;
  }

  /** The row, or null if it does not exist. */
  static <V extends MessageLite> V parse(Table<V> table, Key key, byte[] bytes) {
    return bytes == null || isGuard(bytes) ? null : table.parse(key, bytes);
  }
}
