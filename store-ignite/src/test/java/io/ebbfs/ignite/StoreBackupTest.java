package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.SharedNamenode;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.namenode.store.StoreBackups;
import io.ebbfs.namenode.store.StoreRestore;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backups of a shared store, taken while transactions run, and restored into emptied nodes. */
@Tag("process")
class StoreBackupTest {
  /** Most of the ids that a restored store skips. */
  private static final long SKIPPED = 900_000_000;

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(240);

  @TempDir Path directory;

  /** The rows of each moment are whole, and no id of later ones is given again. */
  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void threeNodes() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 3)) {
      Path backup;
      long block;
      long stamp;
      Set<Long> before;
      try (IgniteStore store = IgniteStore.open(nodes.client());
          Transfers transfers = Transfers.start(store)) {
        transfers.awaitMore(20);
        before = transfers.acknowledged();
        backup =
            new StoreBackups(store, directory.resolve("backups"), 0, 3, Clock.systemUTC()).take();
        assertThat(snapshotFiles()).isEmpty();
        transfers.awaitMore(10);
        transfers.stop();
        IdGenerators ids = IdGenerators.of(store);
        block = ids.blocks().next();
        stamp = ids.generationStamps().next();
        nodes.kill(2);
        assertThatThrownBy(() -> store.checkpoint(directory.resolve("without")))
            .hasMessageContaining("start the missing ones and take it again");
      }
      emptyAll(nodes, 3);
      try (IgniteStore store = IgniteStore.open(nodes.client())) {
        StoreRestore.run(backup, store);
        Transfers.checkSince(before, store);
        IdGenerators ids = IdGenerators.of(store);
        assertThat(RestoredStore.skipIds(store, ids)).isPresent();
        assertThat(ids.blocks().next()).isGreaterThan(block + SKIPPED);
        assertThat(ids.generationStamps().next()).isGreaterThan(stamp + SKIPPED);
      }
    }
  }

  /** What nodes have kept of their snapshots. */
  private List<Path> snapshotFiles() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(
              file -> file.toString().contains(StoreSnapshot.PREFIX) && Files.isRegularFile(file))
          .toList();
    }
  }

  private static void emptyAll(StoreNodes nodes, int count) throws Exception {
    for (int node = 0; node < count; node++) {
      nodes.kill(node);
      nodes.empty(node);
    }
    for (int node = 0; node < count; node++) {
      nodes.start(node);
    }
  }

  /** An operator has a namenode take a backup, loses the disk of the node, and restores. */
  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void oneNodeAndItsNamenode() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 1)) {
      long last;
      try (SharedNamenode namenode = leader(nodes);
          DFSClient client = client(namenode)) {
        assertThat(client.mkdirs("/before", FsPermission.getDirDefault(), true)).isTrue();
        assertThat(client.getNamenode().saveNamespace(0, 0)).isTrue();
        assertThat(client.mkdirs("/after", FsPermission.getDirDefault(), true)).isTrue();
        last = client.getFileInfo("/after").getFileId();
      }
      Path backup;
      try (Stream<Path> backups = Files.list(directory.resolve("namenode/backups"))) {
        backup = backups.findFirst().orElseThrow();
      }
      emptyAll(nodes, 1);
      try (IgniteStore store = IgniteStore.open(nodes.client())) {
        StoreRestore.run(backup, store);
        assertThatThrownBy(() -> StoreRestore.run(backup, store))
            .hasMessageContaining("move the directories of the nodes away");
        assertThat(ChangeLog.stored(store)).as("the sums").hasValue(ChangeLog.scan(store));
      }
      try (SharedNamenode namenode = leader(nodes);
          DFSClient client = client(namenode)) {
        assertThat(client.exists("/before")).isTrue();
        assertThat(client.exists("/after")).isFalse();
        assertThat(client.mkdirs("/new", FsPermission.getDirDefault(), true)).isTrue();
        assertThat(client.getFileInfo("/new").getFileId()).isGreaterThan(last + SKIPPED);
      }
    }
  }

  private SharedNamenode leader(StoreNodes nodes) throws Exception {
    List<Override> keys =
        List.of(
            new Override("test", "data", directory.resolve("namenode").toString()),
            new Override("test", "port", "0"),
            new Override("test", "backupEvery", "0s"),
            new Override("test", "storeNodes", String.join(",", nodes.peers())));
    SharedNamenode namenode =
        SharedNamenode.start(
            NamenodeConfig.of(Optional.empty(), keys, Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    long deadline = System.nanoTime() + LIMIT_NANOS;
    while (!namenode.isLeader() && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(namenode.isLeader()).isTrue();
    return namenode;
  }

  private static DFSClient client(SharedNamenode namenode) throws IOException {
    return new DFSClient(
        URI.create("hdfs://127.0.0.1:" + namenode.address().getPort()), new Configuration());
  }
}
