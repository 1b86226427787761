package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.HeldSync;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.PendingSync;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a namenode may believe about deletions that an earlier process of it has ordered. */
class OrderedDeletionsTest {
  /** Knows whether a crash of the machine would take a commit. */
  private static final class WatchedStore implements MetadataStore {
    private final InMemoryStore rows = new InMemoryStore();
    // As if every transaction wrote: a synced one takes all earlier ones to the disk.
    private boolean wouldLose;

    @Override
    public <R> R transact(long hint, Durability durability, TransactionBody<R> body)
        throws IOException {
      R result = rows.transact(hint, durability, body);
      wouldLose = durability == Durability.RELAXED;
      return result;
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
      return rows.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return rows.changes();
    }

    @Override
    public void close() {}
  }

  private static String holderMarked(BlockFixture f, BlockRow block) throws IOException {
    return f.rows(block.getBlockId()).stream()
        .filter(row -> row.row().getState() == ReplicaStateProto.EXCESS)
        .map(ReplicaRows.Replica::storageUuid)
        .findFirst()
        .orElseThrow();
  }

  /**
   * A machine that crashes loses relaxed commits. If the mark of an excess replica is lost and the
   * order is not, the next namenode chooses another replica of the same block.
   */
  @Test
  void theMarkOfAReplicaIsOnDiskBeforeItsServerIsToldToDeleteIt() throws IOException {
    WatchedStore store = new WatchedStore();
    BlockFixture f = new BlockFixture(3, 5, 1, BlockFixture.settings(), store);
    f.registerAll();
    f.second();
    BlockRow block = f.writeFile(2);
    f.seconds(3);
    SimulatedServer back = f.holder(f.physical(block.getBlockId()).iterator().next());
    back.kill();
    f.seconds(20);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
    boolean[] lost = new boolean[1];
    f.witness = (server, storage, b) -> lost[0] |= store.wouldLose;
    back.up = true;
    f.seconds(20);
    assertThat(f.physical(block.getBlockId())).hasSize(2);
    assertThat(lost[0]).as("a crash would have taken the mark of a deleted replica").isFalse();
  }

  /** No thread waits for the disk for the sake of a call; who orders a deletion does. */
  @Test
  void aReplicaIsNotOrderedToBeDeletedBeforeTheDeletionOfItsRowIsOnDisk(@TempDir Path directory)
      throws Exception {
    HeldSync disk = new HeldSync();
    ExecutorService heartbeats = Executors.newSingleThreadExecutor();
    try (MetadataStore store = disk.open(directory.resolve("db"))) {
      BlockFixture f = new BlockFixture(3, 3, 1, BlockFixture.settings(), store);
      f.registerAll();
      f.second();
      BlockRow block = f.writeFile(2);
      f.seconds(3);
      disk.hold();
      PendingSync call = PendingSync.begin();
      f.setReplication(block.getBlockId(), 1);
      call.end();
      assertThat(call.isSynced()).isFalse();
      Future<Integer> orders = heartbeats.submit(() -> takeDeletions(f));
      try {
        assertThatThrownBy(() -> orders.get(100, TimeUnit.MILLISECONDS))
            .isInstanceOf(TimeoutException.class);
      } finally {
        disk.release();
      }
      assertThat(orders.get(10, TimeUnit.SECONDS)).isEqualTo(1);
      assertThat(call.isSynced()).isTrue();
    } finally {
      heartbeats.shutdownNow();
    }
  }

  /** As the RPC server calls it: within the scope of a call. */
  private static int takeDeletions(BlockFixture f) throws IOException {
    PendingSync call = PendingSync.begin();
    try {
      int orders = 0;
      for (String server : f.servers.keySet()) {
        orders += f.manager.takeDeletions(server).size();
      }
      return orders;
    } finally {
      call.end();
    }
  }

  /** The deletion was ordered before the restart, and may be under way. */
  @Test
  void anExcessReplicaIsNotCountedAgainBeforeItsDiskHasReported() throws IOException {
    BlockFixture f =
        new BlockFixture(
            3, 4, 1, BlockFixture.settings().withSafeModeThreshold(0), new InMemoryStore());
    f.registerAll();
    f.second();
    BlockRow block = f.writeFile(2);
    f.seconds(3);
    f.setReplication(block.getBlockId(), 1);
    String excess = holderMarked(f, block);
    TreeSet<String> others = new TreeSet<>(f.physical(block.getBlockId()));
    others.remove(excess);
    f.holder(others.first()).kill();
    f.startNamenode();
    SimulatedServer server = f.holder(excess);
    f.frontEnd.registerDatanode(server.registration());
    for (int i = 0; i < 60; i++) {
      f.clock.advance(1_000);
      server.heartbeat(f.frontEnd);
      f.manager.tick();
      assertThat(f.liveReplicas(block.getBlockId())).isZero();
    }
    assertThat(f.cluster.inSafeMode()).isFalse();
    server.reportAll();
    f.seconds(10);
    assertThat(f.liveReplicas(block.getBlockId())).as("it is still there").isEqualTo(1);
  }

  /** An order to delete names a block and no disk, so it also meets a replica that has moved. */
  @Test
  void aReplicaThatMovesWithinItsServerBeforeItIsDeletedDoesNotCount() throws IOException {
    BlockFixture f = new BlockFixture(3, 2, 2);
    f.registerAll();
    f.second();
    BlockRow block = f.writeFile(2);
    long blockId = block.getBlockId();
    f.seconds(3);
    f.setReplication(blockId, 1);
    String marked = holderMarked(f, block);
    SimulatedServer server = f.holder(marked);
    String kept =
        f.physical(blockId).stream().filter(disk -> !disk.equals(marked)).findFirst().orElseThrow();
    assertThat(f.manager.takeDeletions(server.uuid)).hasSize(1);
    String moved =
        server.storages().stream().filter(disk -> !disk.equals(marked)).findFirst().orElseThrow();
    server.write(moved, server.disks.get(marked).remove(blockId));
    f.manager.replaces(blockId, f.holder(kept).uuid);
    f.deliverAll();
    f.manager.tick();
    f.manager.tick();
    assertThat(f.manager.takeDeletions(f.holder(kept).uuid)).isEmpty();
    assertThat(f.liveStorages(blockId)).containsExactly(kept);
  }
}
