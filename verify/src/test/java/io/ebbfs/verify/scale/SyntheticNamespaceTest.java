package io.ebbfs.verify.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.audit.MetadataChecker;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.ChangeLog;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Usage;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SyntheticNamespaceTest {
  private static final int SERVERS = 60;
  private static final int DISKS = 3;
  private static final int THREADS = 2;

  /** Some directories have fewer files than the others, and yet all stripes are full. */
  private static final long FILES = 11_500;

  private static final long IN_ONE_DIRECTORY = 2_100;

  @TempDir Path directory;

  private RocksDbStore open() throws IOException {
    return RocksDbStore.open(directory.resolve("metadata"));
  }

  private ServerBlocks fill(SyntheticNamespace.Progress progress) throws Exception {
    try (RocksDbStore store = open();
        ServerBlocks blocks = new ServerBlocks(directory.resolve("blocks"), SERVERS, DISKS)) {
      new SyntheticNamespace(store, blocks, SERVERS, DISKS, THREADS, 1)
          .fill(FILES, IN_ONE_DIRECTORY, progress);
      return blocks;
    }
  }

  /** The servers and disks of the rows, all live. */
  private record Servers(Map<String, ServerRow> rows) implements ClusterView {
    @Override
    public List<Server> liveServers() {
      return rows.values().stream().map(row -> server(row.getUuid()).orElseThrow()).toList();
    }

    @Override
    public Optional<Server> server(String uuid) {
      return Optional.ofNullable(rows.get(uuid))
          .map(
              row ->
                  new Server(
                      uuid,
                      row.getHostName(),
                      row.getIpAddress(),
                      row.getTransferPort(),
                      0,
                      row.getIpcPort(),
                      row.getRack(),
                      true,
                      0,
                      0,
                      row.getStoragesList().stream().map(disk -> disk(row, disk)).toList()));
    }

    private static Disk disk(ServerRow server, StorageRow disk) {
      return new Disk(disk.getUuid(), disk.getNumber(), server.getUuid(), false, 0, 0, 0);
    }

    @Override
    public Optional<Disk> disk(String uuid) {
      return rows.values().stream()
          .flatMap(row -> row.getStoragesList().stream().map(disk -> disk(row, disk)))
          .filter(disk -> disk.storageUuid().equals(uuid))
          .findFirst();
    }

    @Override
    public boolean inSafeMode() {
      return false;
    }
  }

  @Test
  void allRowsBelongTogether() throws Exception {
    TreeSet<Long> told = new TreeSet<>();
    fill(
        done -> {
          synchronized (told) {
            told.add(done);
          }
        });
    assertThat(told.last()).isEqualTo(FILES);
    try (RocksDbStore store = open()) {
      store.changes().open();
      Map<String, ServerRow> servers = new HashMap<>();
      store.eachRow(Tables.SERVER, (key, row) -> servers.put(row.getUuid(), row));
      assertThat(servers).hasSize(SERVERS);
      assertThat(
              MetadataChecker.run(CodeRegistry.builtIn(), store, new Servers(servers), 10).stream()
                  .filter(finding -> finding.severity() == MetadataChecker.Severity.WRONG))
          .isEmpty();
      Usage usage = ChangeLog.stored(store).orElseThrow();
      assertThat(usage).isEqualTo(ChangeLog.scan(store)).isEqualTo(store.changes().usage());
      assertThat(usage.files()).isEqualTo(FILES);
      assertThat(files(store)).isEqualTo(FILES);
    }
  }

  private static long files(RocksDbStore store) throws IOException {
    long[] files = {0};
    store.eachRow(
        Tables.INODE_NAME,
        (key, row) -> {
          boolean hasInode =
              store.transact(
                  0,
                  transaction ->
                      transaction
                          .get(
                              Tables.INODE,
                              Tables.inode(row.getParentId(), row.getName().toByteArray()))
                          .filter(inode -> inode.getId() == key.partition())
                          .isPresent());
          assertThat(hasInode).as(row.getName().toStringUtf8()).isTrue();
          files[0] += row.getName().toStringUtf8().matches("f[0-9]+") ? 1 : 0;
        });
    return files[0];
  }

  @Test
  void aServerReportsWhatTheRowsOfItsDisksSay() throws Exception {
    ServerBlocks blocks = fill(done -> {});
    Map<Long, List<Long>> byDisk = new HashMap<>();
    try (RocksDbStore store = open()) {
      store.eachRow(
          Tables.STORAGE_REPLICA,
          (key, row) ->
              byDisk.computeIfAbsent(key.partition(), n -> new ArrayList<>()).add(key.firstLong()));
    }
    for (int server = 0; server < SERVERS; server++) {
      List<List<Long>> reported = blocks.read(server);
      for (int disk = 0; disk < DISKS; disk++) {
        assertThat(reported.get(disk))
            .isEqualTo(byDisk.remove(SyntheticNamespace.diskNumber(server, disk, DISKS)));
      }
    }
    assertThat(byDisk).isEmpty();
  }

  @Test
  void noIdIsGivenToAnybodyElse() throws Exception {
    fill(done -> {});
    try (RocksDbStore store = open()) {
      IdGenerators ids = IdGenerators.of(store);
      long nextInode = ids.inodes().next();
      long nextBlock = ids.blocks().next();
      store.eachRow(
          Tables.INODE_NAME, (key, row) -> assertThat(key.partition()).isLessThan(nextInode));
      store.eachRow(Tables.STRIPE, (key, row) -> assertThat(key.partition()).isLessThan(nextInode));
      store.eachRow(
          Tables.BLOCK_OWNER, (key, row) -> assertThat(key.partition()).isLessThan(nextBlock));
    }
  }

  @Test
  void whoHearsOfTheFilesMayEndTheWriting() throws Exception {
    assertThatThrownBy(
            () ->
                fill(
                    done -> {
                      throw new IllegalStateException("the end");
                    }))
        .hasMessageContaining("the end");
    try (Stream<Path> files = Files.list(directory.resolve("metadata"))) {
      assertThat(files.map(path -> path.getFileName().toString()))
          .noneMatch(name -> name.startsWith("sorted-"));
    }
  }
}
