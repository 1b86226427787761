package io.ebbfs.namespace.block;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Who this cluster is, durable since its first start: chunk servers refuse to serve another one.
 * The forms are those of HDFS, since stock DataNodes check them.
 */
public record ClusterIdentity(
    int namespaceId, String clusterId, String blockPoolId, long createdMillis) {

  /** Reads the identity from the settings, or makes one for a new store. */
  public static ClusterIdentity of(MetadataStore store, Clock clock, RandomGenerator random)
      throws IOException {
    Key clusterKey = Tables.named("clusterId");
    ClusterIdentity fresh = fresh(clock, random);
    return store.transact(
        clusterKey.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SETTING, clusterKey)));
          return new ClusterIdentity(
              Integer.parseInt(
                  setting(transaction, "namespaceId", String.valueOf(fresh.namespaceId))),
              setting(transaction, "clusterId", fresh.clusterId),
              setting(transaction, "blockPoolId", fresh.blockPoolId),
              Long.parseLong(
                  setting(transaction, "createdMillis", String.valueOf(fresh.createdMillis))));
        });
  }

  private static ClusterIdentity fresh(Clock clock, RandomGenerator random) {
    long now = clock.millis();
    int namespaceId = random.nextInt(1, Integer.MAX_VALUE);
    UUID uuid = new UUID(random.nextLong(), random.nextLong());
    // BP-<number>-<address>-<time>: the address only has to look like one.
    String blockPoolId = "BP-%d-127.0.0.1-%d".formatted(random.nextInt(1, Integer.MAX_VALUE), now);
    return new ClusterIdentity(namespaceId, "CID-" + uuid, blockPoolId, now);
  }

  private static String setting(Transaction transaction, String name, String fresh)
      throws IOException {
    Key key = Tables.named(name);
    var row = transaction.get(Tables.SETTING, key);
    if (row.isPresent()) {
      return row.get().getValue();
    }
    transaction.put(Tables.SETTING, key, SettingRow.newBuilder().setValue(fresh).build());
    return fresh;
  }
}
