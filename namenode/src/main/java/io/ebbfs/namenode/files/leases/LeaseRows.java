package io.ebbfs.namenode.files.leases;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads and writes lease rows: one row for each file that is open for writing, in the partition of
 * its client. The lock of the file's inode protects the row.
 */
public final class LeaseRows {
  private LeaseRows() {}

  public static void add(Transaction transaction, String clientName, long fileId, long nowMillis) {
    transaction.put(
        Tables.LEASE,
        key(clientName, fileId),
        LeaseRow.newBuilder()
            .setClientName(clientName)
            .setRenewedMillis(nowMillis)
            .addFileIds(fileId)
            .build());
  }

  public static void remove(Transaction transaction, String clientName, long fileId) {
    transaction.delete(Tables.LEASE, key(clientName, fileId));
  }

  /** The time when the client opened the file, if the client holds its lease. */
  public static Optional<Long> sinceMillis(Transaction transaction, String clientName, long fileId)
      throws IOException {
    return transaction.get(Tables.LEASE, key(clientName, fileId)).map(LeaseRow::getRenewedMillis);
  }

  static Key key(String clientName, long fileId) {
    byte[] name = clientName.getBytes(StandardCharsets.UTF_8);
    return Key.of(
        Tables.named(clientName).partition(),
        ByteBuffer.allocate(name.length + Long.BYTES).put(name).putLong(fileId).array());
  }
}
