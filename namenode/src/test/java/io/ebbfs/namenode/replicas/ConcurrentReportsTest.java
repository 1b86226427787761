package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo.BlockStatus;
import org.apache.hadoop.hdfs.server.protocol.StorageReceivedDeletedBlocks;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many servers report at once, while clients rename and delete the same files. */
@Timeout(120)
class ConcurrentReportsTest {
  private static final int FILES = 300;

  private final BlockFixture f = fixture();

  /** A store with slow commits, so that other transactions overtake reads without locks. */
  private static final class SlowStore implements MetadataStore {
    private final InMemoryStore store = new InMemoryStore();

    @Override
    public <R> R transact(long partitionHint, Durability durability, TransactionBody<R> body)
        throws IOException {
      return store.transact(
          partitionHint,
          durability,
          transaction -> {
            R result = body.run(transaction);
            LockSupport.parkNanos(200_000);
            return result;
          });
    }

    @Override
    public <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit) {
      return store.scanAll(table, after, limit);
    }

    @Override
    public ChangeLog changes() {
      return store.changes();
    }

    @Override
    public void close() {
      store.close();
    }
  }

  private static BlockFixture fixture() {
    try {
      BlockFixture fixture = new BlockFixture(3, 4, 1, BlockFixture.settings(), new SlowStore());
      fixture.registerAll();
      fixture.second();
      return fixture;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void noRowsOutliveTheirBlocksAndNoOrderIsLost() throws Exception {
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      blocks.add(f.writeFile(3).getBlockId());
    }
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      List<Future<Void>> reporters = new ArrayList<>();
      for (SimulatedServer server : f.servers.values()) {
        reporters.add(pool.submit(() -> reportAgainAndAgain(server, blocks)));
      }
      Future<Void> renames = pool.submit(() -> renameUntil(done, blocks));
      Future<Void> deletions = pool.submit((Callable<Void>) () -> deleteAll(blocks));
      deletions.get();
      for (Future<Void> reporter : reporters) {
        reporter.get();
      }
      done.set(true);
      renames.get();
    } finally {
      pool.shutdownNow();
    }
    assertThat(f.store.scanAll(Tables.REPLICA, null, 10)).isEmpty();
    assertThat(f.store.scanAll(Tables.STORAGE_REPLICA, null, 10)).isEmpty();
    f.seconds(5);
    for (long block : blocks) {
      assertThat(f.physical(block)).isEmpty();
    }
  }

  /** Reports all blocks as finalized three times, ten blocks in each report. */
  private Void reportAgainAndAgain(SimulatedServer server, List<Long> blocks) throws IOException {
    String disk = server.storages().get(0);
    List<Long> held = blocks.stream().filter(server.disks.get(disk)::containsKey).toList();
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < held.size(); i += 10) {
        report(server, disk, held.subList(i, Math.min(i + 10, held.size())));
      }
    }
    return null;
  }

  private void report(SimulatedServer server, String disk, List<Long> blocks) throws IOException {
    ReceivedDeletedBlockInfo[] news =
        blocks.stream()
            .map(
                id ->
                    new ReceivedDeletedBlockInfo(
                        new Block(id, BlockFixture.BLOCK_BYTES, 1001),
                        BlockStatus.RECEIVED_BLOCK,
                        null))
            .toArray(ReceivedDeletedBlockInfo[]::new);
    while (true) {
      try {
        f.frontEnd.blockReceivedAndDeleted(
            server.registration(),
            f.identity.blockPoolId(),
            new StorageReceivedDeletedBlocks[] {
              new StorageReceivedDeletedBlocks(new DatanodeStorage(disk), news)
            });
        return;
      } catch (IOException e) {
        // The files were renamed too often meanwhile: the server sends its report again.
        assertThat(e).hasMessageContaining("changed meanwhile");
      }
    }
  }

  private Optional<InodeNameRow> lock(Transaction t, long owner) throws IOException {
    Optional<InodeNameRow> name = t.get(Tables.INODE_NAME, Tables.inodeName(owner));
    if (name.isEmpty()) {
      return name;
    }
    t.lock(
        List.of(
            RowLock.exclusive(
                Tables.INODE,
                Tables.inode(name.get().getParentId(), name.get().getName().toByteArray()))));
    return t.get(Tables.INODE_NAME, Tables.inodeName(owner)).filter(name.get()::equals);
  }

  private Void renameUntil(AtomicBoolean done, List<Long> blocks) throws IOException {
    for (int i = 0; !done.get(); i++) {
      long owner = f.ownerOf(blocks.get(i % blocks.size()));
      ByteString name = ByteString.copyFromUtf8("r" + i);
      f.store.transact(
          owner,
          t -> {
            Optional<InodeNameRow> old = lock(t, owner);
            old.ifPresent(
                row ->
                    t.put(
                        Tables.INODE_NAME,
                        Tables.inodeName(owner),
                        row.toBuilder().setName(name).build()));
            return null;
          });
    }
    return null;
  }

  private Void deleteAll(List<Long> blocks) throws IOException {
    for (long block : blocks) {
      long owner = f.ownerOf(block);
      boolean deleted = false;
      while (!deleted) {
        Optional<List<Invalidation>> gone =
            f.store.transact(
                owner,
                t -> {
                  if (lock(t, owner).isEmpty()) {
                    return Optional.empty(); // renamed meanwhile
                  }
                  t.delete(Tables.INODE_NAME, Tables.inodeName(owner));
                  return Optional.of(f.manager.release(t, owner, List.of(0L)));
                });
        gone.ifPresent(f.manager::invalidate);
        deleted = gone.isPresent();
      }
      BlockRow row = f.blocks.remove(block);
      assertThat(row).isNotNull();
    }
    return null;
  }
}
