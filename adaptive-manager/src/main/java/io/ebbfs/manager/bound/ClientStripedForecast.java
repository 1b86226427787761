package io.ebbfs.manager.bound;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.view.FileView;

/**
 * What it costs to make a replicated file of a file that its client has encoded. Each block is read
 * from the cells of its block group and written once, and read and written once more for each
 * further replica. The bound counts the data of policies alone, so it does not change here. Sizes
 * are bytes. Immutable.
 *
 * @param storedBytesNow of the block groups, parities included
 * @param storedBytesThen of all replicas
 */
public record ClientStripedForecast(
    long dataBytes, long readBytes, long writtenBytes, long storedBytesNow, long storedBytesThen) {
  /** Of no file. */
  public static final ClientStripedForecast NONE = new ClientStripedForecast(0, 0, 0, 0, 0);

  /** The forecast for a file whose replication the namenode has told. */
  public static ClientStripedForecast of(FileView file) {
    long replicas = file.lengthBytes() * file.replication();
    return new ClientStripedForecast(
        file.lengthBytes(), replicas, replicas, file.groupStoredBytes(), replicas);
  }

  /** The sum of two. */
  public ClientStripedForecast plus(ClientStripedForecast other) {
    return new ClientStripedForecast(
        dataBytes + other.dataBytes,
        readBytes + other.readBytes,
        writtenBytes + other.writtenBytes,
        storedBytesNow + other.storedBytesNow,
        storedBytesThen + other.storedBytesThen);
  }

  public long movedBytes() {
    return readBytes + writtenBytes;
  }

  public long storedDeltaBytes() {
    return storedBytesThen - storedBytesNow;
  }

  /** For messages: "6 GiB are read and 6 GiB written; 3 GiB are stored now, 6 GiB then". */
  public String show() {
    return "%s are read and %s written; %s are stored now, %s then"
        .formatted(
            Units.showBytes(readBytes),
            Units.showBytes(writtenBytes),
            Units.showBytes(storedBytesNow),
            Units.showBytes(storedBytesThen));
  }
}
