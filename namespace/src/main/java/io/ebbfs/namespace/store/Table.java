package io.ebbfs.namespace.store;

import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.hadoop.thirdparty.protobuf.Parser;

/**
 * A table of the metadata store.
 *
 * @param name the durable name
 * @param order its place in the total order of locks
 * @param parser reads its rows
 */
public record Table<V extends MessageLite>(String name, int order, Parser<V> parser) {
  /** Cheap: locks and rows are looked up by it many times in a transaction. */
  @Override
  public int hashCode() {
    return order;
  }

  /** Parses a stored row; a row that does not parse names the table and the key. */
  public V parse(Key key, byte[] bytes) {
    try {
      return parser.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new CorruptRowException(
          "row %s of table '%s' does not parse (%d bytes): restore the store from a backup or run its check"
              .formatted(key, name, bytes.length),
          e);
    }
  }
}
