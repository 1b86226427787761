package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a balancer may move, and which replica goes after a move. */
class BalancerMovesTest {
  private static final String FIRST = "server-00";

  private BlockFixture f;

  private void start(int servers, int disks) throws IOException {
    f = new BlockFixture(11, servers, disks);
    begin();
  }

  private void begin() throws IOException {
    f.registerAll();
    f.seconds(20);
  }

  private List<BlockRow> write(int files, int replication) throws IOException {
    List<BlockRow> written = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      written.add(f.writeFile(replication));
    }
    f.deliverAll();
    f.seconds(3);
    return written;
  }

  private List<Long> movable(long sumBytes, long leastBytes) throws IOException {
    Server server = f.cluster.server(FIRST).orElseThrow();
    return f.manager.movable().of(server, sumBytes, leastBytes).stream()
        .map(one -> one.block().getBlockId())
        .toList();
  }

  private Set<String> holders(long blockId) {
    return f.physical(blockId).stream()
        .map(disk -> f.holder(disk).uuid)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Writes a replica of the block on that server in the place of the one on another server. */
  private void move(long blockId, String to, String from) {
    SimulatedServer target = f.servers.get(to);
    target.writeFor(
        target.disks.keySet().iterator().next(),
        new Block(blockId, BlockFixture.BLOCK_BYTES, 1001),
        from);
  }

  private static String otherThan(Set<String> holders, Set<String> all) {
    return all.stream().filter(uuid -> !holders.contains(uuid)).findFirst().orElseThrow();
  }

  @Test
  void onlyWholeReplicatedBlocksOfTheServerAreOffered() throws IOException {
    start(2, 2);
    List<BlockRow> written = write(6, 2);
    assertThat(movable(Long.MAX_VALUE, 0))
        .containsExactlyInAnyOrderElementsOf(written.stream().map(BlockRow::getBlockId).toList());
    f.encode(written.get(0).getBlockId());
    f.commitByRecovery(written.get(1).getBlockId(), 2);
    f.setReplication(written.get(2).getBlockId(), 3);
    f.setReplication(written.get(3).getBlockId(), 1);
    assertThat(movable(Long.MAX_VALUE, 0))
        .containsExactlyInAnyOrder(written.get(4).getBlockId(), written.get(5).getBlockId());
    for (MovableBlocks.Movable one :
        f.manager.movable().of(f.cluster.server(FIRST).orElseThrow(), Long.MAX_VALUE, 0)) {
      assertThat(one.places().stream().map(Disk::serverUuid))
          .containsExactlyInAnyOrder("server-00", "server-01");
    }
    assertThat(movable(Long.MAX_VALUE, BlockFixture.BLOCK_BYTES)).hasSize(2);
    assertThat(movable(Long.MAX_VALUE, BlockFixture.BLOCK_BYTES + 1)).isEmpty();
  }

  @Test
  void aCallGoesOnWhereTheLastOneEnded() throws IOException {
    start(2, 2);
    Set<Long> expected =
        write(600, 2).stream().map(BlockRow::getBlockId).collect(Collectors.toSet());
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      List<Long> some = movable(7 * BlockFixture.BLOCK_BYTES, 0);
      assertThat(some).hasSize(7).doesNotHaveDuplicates();
      seen.addAll(some);
    }
    assertThat(seen).isEqualTo(expected);
    assertThat(new HashSet<>(movable(Long.MAX_VALUE, 0))).isEqualTo(expected);
  }

  @Test
  void theReplicaThatABalancerReplacedGoes() throws IOException {
    start(4, 1);
    List<BlockRow> written = write(40, 2);
    for (int i = 0; i < written.size(); i++) {
      long blockId = written.get(i).getBlockId();
      Set<String> before = holders(blockId);
      String from = List.copyOf(before).get(i % 2);
      String to = otherThan(before, f.servers.keySet());
      move(blockId, to, from);
      f.seconds(3);
      Set<String> expected = new TreeSet<>(before);
      expected.remove(from);
      expected.add(to);
      assertThat(holders(blockId)).isEqualTo(expected);
    }
  }

  @Test
  void aReplicaOfAStripeThatABalancerMovesChangesNothing() throws IOException {
    start(4, 1);
    long blockId = write(1, 2).get(0).getBlockId();
    f.encode(blockId);
    f.seconds(5);
    Set<String> before = holders(blockId);
    assertThat(before).hasSize(1);
    move(blockId, otherThan(before, f.servers.keySet()), before.iterator().next());
    f.seconds(10);
    assertThat(holders(blockId)).isEqualTo(before);
  }

  @Test
  void aMoveThatWouldLeaveOneRackDoesNotDecide(@TempDir Path directory) throws IOException {
    Path racks = directory.resolve("racks");
    Files.writeString(racks, "127.0.0.1:10000 /one\n127.0.0.1:10001 /one\n127.0.0.1:10002 /two\n");
    f = new BlockFixture(11, 3, 1);
    f.topology = RackTopology.of(racks);
    f.startNamenode();
    begin();
    int moved = 0;
    for (BlockRow row : write(20, 2)) {
      Set<String> before = holders(row.getBlockId());
      if (before.contains("server-02")) {
        // The new replica is in the rack of the one that stays.
        move(row.getBlockId(), otherThan(before, f.servers.keySet()), "server-02");
        f.seconds(3);
        assertThat(holders(row.getBlockId())).hasSize(2).contains("server-02");
        moved++;
      }
    }
    assertThat(moved).isPositive();
  }

  /** Who orders a move may name anything. */
  @Test
  void namesOfServersThatAreNotKnownTakeNoPlaceOfOthers() throws IOException {
    start(4, 1);
    for (BlockRow row : write(12, 2)) {
      long blockId = row.getBlockId();
      Set<String> before = holders(blockId);
      String from = List.copyOf(before).get((int) (blockId % 2));
      f.manager.replaces(blockId, from);
      for (long other = 0; other < 2L * f.settings.queueLimit(); other++) {
        f.manager.replaces(-other, "nobody");
      }
      move(blockId, otherThan(before, f.servers.keySet()), null);
      f.seconds(3);
      assertThat(holders(blockId)).hasSize(2).doesNotContain(from);
    }
  }

  @Test
  void hintsAreBounded() {
    ManualClock clock = new ManualClock();
    ReplacedReplicas replaced = new ReplacedReplicas(clock, 2);
    for (long blockId = 1; blockId <= 3; blockId++) {
      replaced.note(blockId, "a");
    }
    assertThat(replaced.has(1, "a")).isFalse();
    assertThat(replaced.has(2, "a")).isTrue();
    assertThat(replaced.has(2, "b")).isFalse();
    assertThat(replaced.has(3, "a")).isTrue();
    clock.advance(600_001);
    assertThat(replaced.has(3, "a")).isFalse();
    replaced.note(4, "b");
    assertThat(replaced.has(4, "b")).isTrue();
  }

  @Test
  void aHintEndsWhenTheServerGetsTheBlockAgain() {
    ReplacedReplicas replaced = new ReplacedReplicas(new ManualClock(), 10);
    replaced.note(1, "a");
    replaced.forget(1, "b");
    replaced.forget(2, "a");
    assertThat(replaced.has(1, "a")).isTrue();
    replaced.forget(1, "a");
    assertThat(replaced.has(1, "a")).isFalse();
  }
}
