package io.ebbfs.namenode.store;

import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.hadoop.thirdparty.protobuf.Parser;

/**
 * A table of the metadata store.
 *
 * @param name the durable name
 * @param order the place in the total order of locks
 * @param parser parses the rows
 * @param rowsOfAPage how many rows are read at once by whoever visits all of them: few if a row may
 *     be large
 */
public record Table<V extends MessageLite>(
    String name, int order, Parser<V> parser, int rowsOfAPage) {
  private static final int SMALL_ROWS_OF_A_PAGE = 1_000;

  /** A table whose rows are small. */
  public Table(String name, int order, Parser<V> parser) {
    this(name, order, parser, SMALL_ROWS_OF_A_PAGE);
  }

  /** Cheap, because a transaction looks up rows and locks by table many times. */
  @Override
  public int hashCode() {
    return order;
  }

  /** Parses a stored row. The error of a damaged row names the table and the key. */
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
