package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.store.FailingStore;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/** Safe mode after a start ends when enough blocks are readable, and not by time alone. */
class SafeModeProgressTest {
  private static final int SERVERS = 5;
  private static final long FIRST_OWNER = 1_000_000;

  /** A cluster whose namenode has just started again; no server has registered yet. */
  private static BlockFixture restarted(BlockFixture f) throws IOException {
    f.startNamenode();
    return f;
  }

  private static BlockFixture cluster(double threshold) throws IOException {
    BlockFixture f =
        new BlockFixture(
            9,
            SERVERS,
            1,
            BlockFixture.settings().withSafeModeThreshold(threshold),
            new InMemoryStore());
    f.registerAll();
    f.second();
    return f;
  }

  private static SimulatedServer onlyHolder(BlockFixture f, BlockRow block) {
    return f.holder(f.physical(block.getBlockId()).iterator().next());
  }

  /** All servers register, and all but one report; seconds pass. */
  private static void seconds(BlockFixture f, int count, SimulatedServer silent)
      throws IOException {
    for (int i = 0; i < count; i++) {
      f.clock.advance(1_000);
      for (SimulatedServer server : f.servers.values()) {
        server.heartbeat(f.frontEnd);
        while (server != silent && server.hasFull()) {
          server.deliverFull(f.frontEnd);
        }
      }
      f.manager.tick();
    }
  }

  @Test
  void itLastsAsLongAsABlockHasNoReplicaOnADiskThatHasReported() throws IOException {
    BlockFixture f = cluster(0.999);
    BlockRow block = f.writeFile(1);
    f.seconds(3);
    SimulatedServer silent = onlyHolder(restarted(f), block);
    seconds(f, 120, silent);
    assertThat(f.cluster.inSafeMode()).isTrue();
    silent.deliverFull(f.frontEnd);
    seconds(f, 2, null);
    assertThat(f.cluster.inSafeMode()).isFalse();
  }

  /** One server is away for good, and every block has a replica elsewhere. */
  @Test
  void itEndsAfterTheGraceTimeIfEveryBlockIsReadable() throws IOException {
    BlockFixture f = cluster(0.999);
    BlockRow block = f.writeFile(3);
    f.seconds(3);
    onlyHolder(restarted(f), block).kill();
    seconds(f, 15, null);
    assertThat(f.cluster.inSafeMode()).isTrue();
    seconds(f, 10, null);
    assertThat(f.cluster.inSafeMode()).isFalse();
  }

  @Test
  void theThresholdIsAShareOfTheBlocks() throws IOException {
    BlockFixture f = cluster(0.5);
    List<BlockRow> blocks = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      blocks.add(f.writeFile(1));
    }
    f.seconds(3);
    SimulatedServer away = onlyHolder(restarted(f), blocks.get(0));
    away.kill();
    seconds(f, 25, null);
    assertThat(f.cluster.inSafeMode()).as("less than half of the blocks are away").isFalse();
  }

  /** The block itself is away; what its stripe says decides. */
  @Test
  void aMemberOfAStripeCountsIfItDecodes() throws IOException {
    BlockFixture f = cluster(0.999);
    BlockRow block = f.writeFile(1);
    f.seconds(3);
    assertThat(f.encode(block.getBlockId())).isTrue();
    f.seconds(3);
    onlyHolder(restarted(f), block).kill();
    f.decodes = false;
    seconds(f, 60, null);
    assertThat(f.cluster.inSafeMode()).isTrue();
    f.decodes = true;
    seconds(f, 2, null);
    assertThat(f.cluster.inSafeMode()).isFalse();
  }

  /** Blocks of which no replica is known. */
  private static BlockFixture withLostBlocks(int count) throws IOException {
    BlockFixture f = new BlockFixture(9, SERVERS, 1);
    f.store.transact(
        FIRST_OWNER,
        t -> {
          for (int i = 0; i < count; i++) {
            t.put(
                Tables.BLOCK,
                Tables.block(FIRST_OWNER + i, 0),
                BlockRow.newBuilder()
                    .setBlockId(FIRST_OWNER + i)
                    .setGenerationStamp(1001)
                    .setLengthBytes(1)
                    .setState(BlockStateProto.COMPLETE)
                    .setReplication(3)
                    .build());
          }
          return null;
        });
    return f;
  }

  /** Ends with the pass, because any share of the blocks may be unreadable. */
  private static SafeModeProgress pass(BlockFixture f, LongSupplier nanoTime) {
    return new SafeModeProgress(f.store, f.cluster, f.stripes, 0, nanoTime);
  }

  @Test
  void oneCallVisitsAsManyBlocksAsItsTimeAllows() throws IOException {
    BlockFixture f = withLostBlocks(60_000);
    assertThat(pass(f, () -> 0).tick()).isTrue();
  }

  /** Each look at the clock finds it more than half of a call later. */
  @Test
  void aCallThatIsSlowEndsAndThePassGoesOn() throws IOException {
    BlockFixture f = withLostBlocks(5_000);
    AtomicLong clock = new AtomicLong();
    SafeModeProgress slow = pass(f, () -> clock.addAndGet(600_000_000));
    int calls = 1;
    while (!slow.tick()) {
      calls++;
      assertThat(calls).isLessThan(20);
    }
    assertThat(calls).isGreaterThan(5);
  }

  @Test
  void whatAFailedCallHasNotVisitedIsVisitedLater() throws IOException {
    BlockFixture f = withLostBlocks(10);
    FailingStore failing = new FailingStore(f.store);
    SafeModeProgress progress =
        new SafeModeProgress(failing.store(), f.cluster, f.stripes, 0.5, () -> 0);
    failing.failNext(1);
    assertThatThrownBy(progress::tick).isInstanceOf(IOException.class);
    assertThat(progress.tick()).as("all blocks are unreadable").isFalse();
    failing.failNext(1);
    assertThatThrownBy(progress::tick).isInstanceOf(IOException.class);
    assertThat(progress.tick()).isFalse();
  }

  @Test
  void anOperatorLeavesAndEntersIt() throws IOException {
    BlockFixture f = cluster(0.999);
    BlockRow block = f.writeFile(1);
    f.seconds(3);
    onlyHolder(restarted(f), block).kill();
    seconds(f, 30, null);
    f.cluster.setSafeMode(false);
    assertThat(f.cluster.inSafeMode()).isFalse();
    f.cluster.setSafeMode(true);
    seconds(f, 30, null);
    assertThat(f.cluster.inSafeMode()).isTrue();
    assertThat(f.cluster.isReadOnly()).isTrue();
    f.cluster.setSafeMode(false);
    assertThat(f.cluster.inSafeMode()).isFalse();
  }
}
