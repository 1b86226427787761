package io.ebbfs.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.YamlFile;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults in files, without the processes of a cluster. */
final class FaultInjectorTest {
  private static final byte[] DATA = new byte[4096];

  @TempDir Path temp;
  private LocalCluster cluster;

  @BeforeEach
  void layOut() throws Exception {
    ClusterSpec spec = ClusterSpec.of(temp.resolve("cluster")).withServers(2, 2).withPorts(0, null);
    cluster = LocalCluster.create(new Build(temp), spec);
    for (int id = 1; id <= 8; id++) {
      store(id, cluster.diskDirectory(id % 2, id / 2 % 2));
    }
    // Blocks under construction and other files are no targets.
    Files.createDirectories(cluster.diskDirectory(0, 0).resolve("rbw"));
    Files.write(cluster.diskDirectory(0, 0).resolve("rbw/blk_99"), DATA);
  }

  private static void store(long id, Path disk) throws Exception {
    Path folder = disk.resolve("finalized/0" + id);
    Files.createDirectories(folder);
    Files.write(folder.resolve("blk_" + id), DATA);
    Files.write(folder.resolve("blk_" + id + "_1001.meta"), new byte[39]);
  }

  private List<Long> left() throws Exception {
    return BlockFiles.below(cluster.directory()).stream()
        .map(BlockFiles.Replica::blockId)
        .sorted()
        .toList();
  }

  @Test
  void aDeletedBlockIsGoneWithItsChecksums() throws Exception {
    Injected done = new FaultInjector(cluster, new Random(1)).deleteBlock(5);
    assertThat(done.blockIds()).containsExactly(5L);
    assertThat(done.files()).hasSize(2).allSatisfy(file -> assertThat(file).doesNotExist());
    assertThat(done.toString()).startsWith("deleted block 5: server-01/disk-0/finalized/05/blk_5");
    assertThat(left()).containsExactly(1L, 2L, 3L, 4L, 6L, 7L, 8L);
  }

  @Test
  void aCorruptBlockKeepsItsLengthAndChecksums() throws Exception {
    Injected done = new FaultInjector(cluster, new Random(1)).corruptBlock();
    byte[] now = Files.readAllBytes(done.files().get(0));
    assertThat(now).hasSize(DATA.length).isNotEqualTo(DATA);
    assertThat(left()).hasSize(8);
  }

  @Test
  void aForgedBlockIsAnotherWithChecksumsThatFit() throws Exception {
    Path meta = cluster.diskDirectory(1, 0).resolve("finalized/05/blk_5_1001.meta");
    Files.write(meta, HexFormat.of().parseHex("00010200000200" + "00".repeat(32)));
    Injected done = new FaultInjector(cluster, new Random(1)).forgeBlock(5);
    assertThat(done.files()).hasSize(2);
    byte[] data = Files.readAllBytes(done.files().get(0));
    assertThat(data).hasSize(DATA.length).isNotEqualTo(DATA);
    ByteBuffer sums = ByteBuffer.wrap(Files.readAllBytes(meta)).position(7);
    for (int at = 0; at < data.length; at += 512) {
      CRC32C crc = new CRC32C();
      crc.update(data, at, 512);
      assertThat(sums.getInt()).isEqualTo((int) crc.getValue());
    }
    assertThat(sums.remaining()).isZero();
    try (Stream<Path> beside = Files.list(meta.getParent())) {
      assertThat(beside).hasSize(2);
    }
  }

  @Test
  void theSameSeedChoosesTheSame() throws Exception {
    Injected first = new FaultInjector(cluster, new Random(7)).corruptBlock();
    Injected second = new FaultInjector(cluster, new Random(7)).corruptBlock();
    assertThat(second.files()).isEqualTo(first.files());
    // Bytes that are flipped twice are the old ones.
    assertThat(Files.readAllBytes(first.files().get(0))).isEqualTo(DATA);
  }

  @Test
  void aFailedDiskLosesItsBlocksAndNoOther() throws Exception {
    Injected done = new FaultInjector(cluster, new Random(1)).failDisk(1, 0);
    assertThat(done.blockIds()).containsExactlyInAnyOrder(1L, 5L);
    assertThat(done.toString()).contains("2 blocks deleted, server is down");
    assertThat(left()).containsExactly(2L, 3L, 4L, 6L, 7L, 8L);
  }

  @Test
  void aTimetableIsPlayedAndWhatFailsIsNoted() throws Exception {
    Timetable timetable =
        YamlFile.parse(
            Path.of("faults.yaml"),
            """
            faults:
              - {at: 40ms, fault: disk, target: 1/0}
              - {at: 0ms, fault: block, target: 4}
              - {at: 20ms, fault: corrupt, target: 99}
              - {at: 1h, fault: block}
            """,
            top -> Timetable.read(top, "faults", new Timetable.Shape(2, 2, 1)));
    FaultPlayer player = new FaultPlayer(timetable, new FaultInjector(cluster, new Random(1)));
    try (player) {
      while (player.fired().size() < 3) {
        assertThat(player.await(10)).isFalse();
      }
    }
    assertThat(player.fired()).hasSize(3);
    assertThat(player.fired())
        .extracting(f -> f.entry().toString())
        .containsExactly("block 4", "corrupt 99", "disk 1/0");
    assertThat(player.fired()).allMatch(f -> f.atMillis() >= f.plannedMillis());
    assertThat(player.fired().get(1).error()).contains("no replica of block 99");
    assertThat(player.fired().get(2).blockIds()).containsExactlyInAnyOrder(1L, 5L);
    assertThat(left()).containsExactly(2L, 3L, 6L, 7L, 8L);
  }

  @Test
  void racksAndLinksAreRefusedWhereThereAreNone() {
    FaultInjector injector = new FaultInjector(cluster, new Random(1));
    assertThatThrownBy(() -> injector.killRack(0)).hasMessageContaining("has no racks");
    assertThatThrownBy(() -> injector.slowLink(0, "10mbit"))
        .hasMessageContaining("is on loopback")
        .hasMessageContaining("ebb lab up");
    assertThatThrownBy(() -> injector.restoreLink(0)).hasMessageContaining("is on loopback");
  }

  @Test
  void whatIsNotThereIsRefused() {
    FaultInjector injector = new FaultInjector(cluster, new Random(1));
    assertThatThrownBy(() -> injector.deleteBlock(99))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("no replica of block 99");
    assertThatThrownBy(() -> injector.failDisk(2, 0))
        .hasMessageContaining("no server 2: the cluster has servers 0 to 1");
    assertThatThrownBy(() -> injector.failDisk(1, 7)).hasMessageContaining("no disk 7");
    assertThatThrownBy(injector::killServer).hasMessageContaining("no chunk server runs");
  }
}
