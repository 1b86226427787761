package io.ebbfs.namenode.datanodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;

/**
 * The identity of this cluster, durable since its first start. A chunk server serves one cluster
 * and refuses every other. The ids have HDFS's form, because stock DataNodes check the form.
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

  /** The identity as DatanodeProtocol tells it, with the state of the namenode that answers. */
  public NamespaceInfo namespaceInfo(HAServiceState state) {
    return new NamespaceInfo(namespaceId, clusterId, blockPoolId, createdMillis, state);
  }

  private static ClusterIdentity fresh(Clock clock, RandomGenerator random) {
    long now = clock.millis();
    int namespaceId = random.nextInt(1, Integer.MAX_VALUE);
    UUID uuid = new UUID(random.nextLong(), random.nextLong());
    // BP-<number>-<address>-<time>. Nobody connects to the address; only its form matters.
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
