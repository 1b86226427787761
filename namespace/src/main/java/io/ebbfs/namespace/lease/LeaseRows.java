package io.ebbfs.namespace.lease;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The index of files that are open for writing, by client: a row per file, in the client's
 * partition. A row is protected by the lock of its file's inode.
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

  /** When the client got the file, if it has it. */
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
