package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.replicas.LostDiskWalker.Outcome;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskPassProto;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskRow;
import java.io.IOException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** No block is passed over, however often the process dies and whatever has no room. */
class LostDiskWalkerTest {
  private static final int BLOCKS = 400;

  private final long seed = Long.getLong("ebbfs.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Set<Long> all = new TreeSet<>();
  private final Memory memory = new Memory();
  private BlockFixture f;
  private LostDiskWalker walker;

  /** The queues of one process: small, and emptied bit by bit. */
  private final class Memory implements LostDiskWalker.Blocks {
    private final Set<Long> open = new HashSet<>();
    private final Set<Long> openForRisk = new HashSet<>();
    private final Set<Long> done = new HashSet<>();
    private final Set<Long> doneForRisk = new HashSet<>();
    private boolean slow;

    @Override
    public Outcome examine(StoredBlock stored, boolean onlyAtRisk) {
      long id = stored.block().getBlockId();
      if (onlyAtRisk && !stored.striped()) {
        doneForRisk.add(id);
        return Outcome.EXAMINED;
      }
      if (slow && done.contains(id)) {
        return Outcome.EXAMINED;
      }
      Set<Long> queue = onlyAtRisk ? openForRisk : open;
      if (queue.size() >= 20) {
        return stored.striped() ? Outcome.WAITS : Outcome.LEFT_OUT;
      }
      queue.add(id);
      return Outcome.EXAMINED;
    }

    @Override
    public boolean isOpen(long blockId, OptionalLong stripeId) {
      return open.contains(blockId) || openForRisk.contains(blockId);
    }

    void work() {
      move(open, done);
      move(openForRisk, doneForRisk);
    }

    void workOnOne() {
      slow = true;
      open.stream().findFirst().ifPresent(done::add);
      open.removeAll(done);
    }

    private void move(Set<Long> from, Set<Long> to) {
      Iterator<Long> ids = from.iterator();
      while (ids.hasNext()) {
        long id = ids.next();
        if (random.nextInt(3) == 0) {
          to.add(id);
          ids.remove();
        }
      }
    }

    void die() {
      open.clear();
      openForRisk.clear();
    }
  }

  private void start(boolean withStripes) throws IOException {
    System.out.println("LostDiskWalkerTest: -Debbfs.seed=" + seed);
    f = new BlockFixture(seed, 1, 1);
    f.registerAll();
    f.second();
    Disk disk = f.cluster.liveServers().get(0).disks().get(0);
    for (int i = 0; i < BLOCKS; i++) {
      long id = f.ids().blocks().next();
      BlockRow.Builder block =
          BlockRow.newBuilder()
              .setBlockId(id)
              .setGenerationStamp(1001)
              .setLengthBytes(1)
              .setState(BlockStateProto.COMPLETE)
              .setReplication(1);
      if (withStripes && random.nextBoolean()) {
        block.setStripeId(77).setStripePosition(0);
      }
      long owner = f.ids().inodes().next();
      f.store.transact(
          owner,
          t -> {
            BlockRows.putBlock(t, owner, 0, block.build());
            BlockRows.addReplica(t, f.cluster, owner, id, 1001, 1, disk.storageUuid());
            return null;
          });
      all.add(id);
    }
    f.servers.values().forEach(SimulatedServer::kill);
    f.seconds(15);
    assertThat(f.cluster.isLive(disk.storageUuid())).isFalse();
    newProcess();
    walker.walk(disk);
    walk(); // the row of the fixture's own walk is replaced before the first death
  }

  private void newProcess() throws IOException {
    memory.die();
    walker = new LostDiskWalker(f.store, f.cluster, f.clock, BlockFixture.settings(), memory);
    walker.resume(f.cluster.allServers().get(0).disks().get(0));
  }

  private LostDiskRow row() throws IOException {
    List<Row<LostDiskRow>> rows = f.store.scanAll(Tables.LOST_DISK, null, 10);
    return rows.get(rows.size() - 1).value();
  }

  private void tick() throws IOException {
    f.clock.advance(1_000);
    memory.work();
    walk();
  }

  private void walk() throws IOException {
    walker.tick();
    LostDiskRow row = row();
    for (long id : all) {
      boolean second = row.getPass() != LostDiskPassProto.AT_RISK;
      assertThat(memory.doneForRisk.contains(id))
          .as("block %d in pass 1, at %s", id, row)
          .satisfies(done -> assertThat(done || !(second || id <= row.getDoneBlockId())).isTrue());
      boolean passed =
          row.getPass() == LostDiskPassProto.WALKED || (second && id <= row.getDoneBlockId());
      assertThat(memory.done.contains(id) || !passed)
          .as("block %d in pass 2, at %s", id, row)
          .isTrue();
    }
  }

  @Test
  void whatTheRowCallsDoneIsDoneAfterAnyDeath() throws IOException {
    start(true);
    int ticks = 0;
    do {
      if (random.nextInt(10) == 0) {
        newProcess();
      }
      tick();
      assertThat(ticks++).as("the walk ends").isLessThan(2_000);
    } while (row().getPass() != LostDiskPassProto.WALKED);
    assertThat(memory.done).isEqualTo(all);
    assertThat(memory.doneForRisk).isEqualTo(all);
  }

  @Test
  void aWalkGoesOnAsLongAsBlocksGetDone() throws IOException {
    start(false);
    int ticks = 0;
    do {
      f.clock.advance(500_000);
      memory.workOnOne();
      walk();
      assertThat(ticks++).as("the walk ends").isLessThan(3 * BLOCKS);
    } while (row().getPass() != LostDiskPassProto.WALKED);
    assertThat(memory.done).isEqualTo(all);
  }
}
