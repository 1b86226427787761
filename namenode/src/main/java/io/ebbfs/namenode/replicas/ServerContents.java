package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a server holds, by the rows of its replicas; at most so many rows as were asked for.
 *
 * @param blocks of files and stripes
 * @param lengthBytes of these blocks
 * @param mostReplicas the most replicas that a block in no stripe wants; 0 without such a block
 * @param codes the names of the codes of the stripes
 * @param isComplete whether all rows were read
 */
public record ServerContents(
    long blocks, long lengthBytes, int mostReplicas, Set<String> codes, boolean isComplete) {
  private static final int PAGE = 500;

  /** Reads pages of rows, each in a transaction of its own. */
  public static ServerContents read(MetadataStore store, Server server, int mostRows)
      throws IOException {
    Count count = new Count();
    for (Disk disk : server.disks()) {
      if (!count.readDisk(store, disk, mostRows)) {
        return count.result(false);
      }
    }
    return count.result(true);
  }

  private static final class Count {
    private final Set<String> codes = new TreeSet<>();
    private int rows;
    private long blocks;
    private long lengthBytes;
    private int mostReplicas;

    /** Returns false if there are more rows than may be read. */
    boolean readDisk(MetadataStore store, Disk disk, int mostRows) throws IOException {
      long number = disk.storageNumber();
      long reached = 0;
      while (true) {
        long after = reached;
        List<Row<StorageReplicaRow>> page =
            store.transact(
                number,
                Durability.RELAXED,
                t -> {
                  List<Row<StorageReplicaRow>> some =
                      t.scan(
                          Tables.STORAGE_REPLICA,
                          number,
                          Tables.storageReplica(number, after),
                          PAGE);
                  add(t, some.stream().map(row -> row.key().firstLong()).toList());
                  return some;
                });
        rows += page.size();
        if (page.size() < PAGE) {
          return true;
        }
        if (rows >= mostRows) {
          return false;
        }
        reached = page.get(page.size() - 1).key().firstLong();
      }
    }

    private void add(Transaction transaction, List<Long> ids) throws IOException {
      if (ids.isEmpty()) {
        return;
      }
      for (StoredBlock stored : BlockLookup.find(transaction, ids).values()) {
        if (!stored.isOutput()) {
          add(transaction, stored.block());
        }
      }
    }

    private void add(Transaction transaction, BlockRow block) throws IOException {
      blocks++;
      lengthBytes += block.getLengthBytes();
      if (!block.hasStripeId()) {
        mostReplicas = Math.max(mostReplicas, block.getReplication());
        return;
      }
      Optional<StripeRow> stripe =
          transaction.get(Tables.STRIPE, Tables.stripe(block.getStripeId()));
      stripe.ifPresent(row -> codes.add(row.getCode()));
    }

    ServerContents result(boolean isComplete) {
      return new ServerContents(blocks, lengthBytes, mostReplicas, codes, isComplete);
    }
  }
}
