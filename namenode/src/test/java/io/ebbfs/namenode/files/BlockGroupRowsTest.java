package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.erasure.EnabledPolicies;
import io.ebbfs.namenode.files.erasure.ErasureCodingService;
import io.ebbfs.namenode.files.inodes.CreateModes;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileSettings;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.fsck.Fsck;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringStripedBlock;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files with block groups of five blocks, beside what else the namenode does with files. */
class BlockGroupRowsTest {
  private static final String POLICY = "RS-3-2-1024k";
  private static final BlockGroupLayout LAYOUT =
      BlockGroupLayout.of(SystemErasureCodingPolicies.RS_3_2_POLICY_ID);
  private static final long GROUP = 3 * NamespaceFixture.BLOCK_BYTES;
  private static final String CLIENT = "client";

  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture();
    datanodes = new SimulatedDatanodes(real, 6);
    real.mkdirs("/d");
  }

  private FileCreationService.Request request(String path, String policy) {
    return new FileCreationService.Request(
        path,
        CreateModes.of(0644),
        CLIENT,
        "127.0.0.1",
        EnumSet.of(CreateFlag.CREATE),
        true,
        3,
        NamespaceFixture.BLOCK_BYTES,
        "",
        policy);
  }

  private Handle open(String path) throws IOException {
    new EnabledPolicies(real.store).enable(POLICY);
    Inode file = real.creation.create(real.root(), request(path, POLICY));
    return new Handle(path, file.id(), CLIENT, "127.0.0.1");
  }

  private static Block add(FileWriteService writes, Handle file, Block previous)
      throws IOException {
    BlockRow added = writes.addBlock(file, previous, Set.of()).block();
    return new Block(added.getBlockId(), 0, added.getGenerationStamp());
  }

  private static Block written(Block group, long length) {
    return new Block(group.getBlockId(), length, group.getGenerationStamp());
  }

  /** The servers of the last group report its blocks. */
  private Block report(Handle file, Block group, long length) throws IOException {
    for (Row<BlockRow> row : blocksOfLast(file)) {
      long bytes = LAYOUT.internalLengthBytes(length, (int) row.key().firstLong());
      if (bytes > 0) {
        datanodes.report(
            new Block(row.value().getBlockId(), bytes, group.getGenerationStamp()),
            row.value().getPipelineStorageUuidsList().toArray(String[]::new));
      }
    }
    return written(group, length);
  }

  private List<Row<BlockRow>> blocksOfLast(Handle file) throws IOException {
    return real.store.transact(
        file.fileId(),
        t -> {
          List<Row<BlockRow>> groups = t.scan(Tables.BLOCK, file.fileId());
          return GroupRows.blocks(t, groups.get(groups.size() - 1).value());
        });
  }

  /** A closed file. */
  private Handle write(String path, long... groups) throws IOException {
    Handle file = open(path);
    Block last = null;
    for (long length : groups) {
      last = report(file, add(real.writes, file, last), length);
    }
    assertThat(real.writes.complete(file, last)).isTrue();
    return file;
  }

  /** A namenode that has drawn its ids after another one. */
  private FileWriteService anotherNamenode() throws IOException {
    IdGenerators ids = IdGenerators.of(real.store);
    return new FileWriteService(
        real.store,
        real.blocks,
        ids.blocks(),
        ids.inodes(),
        ids.generationStamps(),
        real.clock,
        NamespaceLimits.DEFAULT,
        new FileSettings(10, NamespaceFixture.RECOVERY_RETRY_MILLIS));
  }

  @Test
  void groupsAreAddedByNamenodesWithIdsOfDifferentRanges() throws IOException {
    Handle file = open("/d/f");
    FileWriteService later = anotherNamenode();
    Block first = report(file, add(later, file, null), GROUP);
    Block second = report(file, add(real.writes, file, first), GROUP);
    Block third = report(file, add(later, file, second), 1);
    assertThat(real.writes.complete(file, third)).isTrue();
    assertThat(real.status("/d/f").getLen()).isEqualTo(2 * GROUP + 1);
  }

  /** The recovery of the last group that a heartbeat of one of its servers carries. */
  private RecoveringStripedBlock orderedRecovery(Handle file) throws IOException {
    List<RecoveringStripedBlock> orders = new ArrayList<>();
    for (String disk : disks(file)) {
      for (DatanodeCommand command : datanodes.heartbeat(disk)) {
        if (command instanceof BlockRecoveryCommand recovery) {
          recovery
              .getRecoveringBlocks()
              .forEach(block -> orders.add((RecoveringStripedBlock) block));
        }
      }
    }
    assertThat(orders).hasSize(1);
    return orders.get(0);
  }

  private boolean isOpen(Handle file) throws IOException {
    return real.reads
        .locate(real.root(), file.src(), 0, Long.MAX_VALUE, "127.0.0.1")
        .isUnderConstruction();
  }

  @Test
  void aRecoveredGroupKeepsWhatCanBeRead() throws IOException {
    Handle file = open("/d/f");
    Block first = report(file, add(real.writes, file, null), GROUP);
    Block second = add(real.writes, file, first);
    assertThat(real.recovery.release(file.fileId(), CLIENT)).isFalse();
    RecoveringStripedBlock order = orderedRecovery(file);
    assertThat(order.getBlock().getBlockId()).isEqualTo(second.getBlockId());
    assertThat(order.getBlockIndices()).containsExactly(0, 1, 2, 3, 4);
    assertThat(order.getErasureCodingPolicy().getName()).isEqualTo(POLICY);
    assertThat(order.getLocations()).hasSize(5);

    List<String> disks = disks(file);
    List<String> recovered = new ArrayList<>(disks);
    recovered.set(1, ""); // did not take part
    long stamp = order.getNewGenerationStamp();
    // A chunk server of an older version takes the group for its block 0.
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    second.getBlockId(), stamp, GROUP, true, false, disks.subList(0, 1)))
        .hasMessageContaining("in 1 blocks: whole rows of 3145728 bytes in at least 3 blocks");
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    second.getBlockId(), stamp, GROUP - 1, true, false, recovered))
        .hasMessageContaining("with 3145727 bytes");
    for (int twice = 0; twice < 2; twice++) {
      real.recovery.commitBlockSynchronization(
          second.getBlockId(), stamp, GROUP, true, false, recovered);
    }
    assertThat(isOpen(file)).as("without reports").isTrue();
    for (int index : new int[] {0, 2, 3, 4}) {
      datanodes.report(
          new Block(second.getBlockId() + index, NamespaceFixture.BLOCK_BYTES, stamp),
          new String[] {disks.get(index)});
    }
    real.monitor.tick();
    assertThat(isOpen(file)).isFalse();
    assertThat(real.status("/d/f").getLen()).isEqualTo(2 * GROUP);
    assertThat(real.rows(Tables.LEASE)).isZero();
    assertThat(disks(file)).doesNotContain(disks.get(1)).hasSize(4);
    assertThat(fsck(Map.of("path", "/"))).contains(" Missing internal blocks:\t1 ");
  }

  @Test
  void aGroupThatCannotBeReadGoesInItsRecovery() throws IOException {
    Handle file = open("/d/f");
    Block first = report(file, add(real.writes, file, null), GROUP);
    Block second = add(real.writes, file, first);
    assertThat(real.recovery.release(file.fileId(), CLIENT)).isFalse();
    long stamp = orderedRecovery(file).getNewGenerationStamp();
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    second.getBlockId(), stamp - 1, 0, true, true, List.of()))
        .hasMessageContaining("does not match current recovery id " + stamp);
    real.recovery.commitBlockSynchronization(second.getBlockId(), stamp, 0, true, true, List.of());
    assertThat(isOpen(file)).isFalse();
    assertThat(real.status("/d/f").getLen()).isEqualTo(GROUP);
  }

  /** The server that leads the recovery may be of a version that knows no groups. */
  @Test
  void aGroupThatCanBeReadIsNotRemoved() throws IOException {
    Handle file = open("/d/f");
    Block first = report(file, add(real.writes, file, null), GROUP);
    Block second = add(real.writes, file, first);
    List<String> disks = disks(file);
    for (int index = 1; index < 4; index++) { // the client has closed them, and then died
      datanodes.report(
          new Block(
              second.getBlockId() + index,
              NamespaceFixture.BLOCK_BYTES,
              second.getGenerationStamp()),
          new String[] {disks.get(index)});
    }
    assertThat(real.recovery.release(file.fileId(), CLIENT)).isFalse();
    long stamp = orderedRecovery(file).getNewGenerationStamp();
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    second.getBlockId(), stamp, 0, true, true, List.of()))
        .hasMessageContaining("have reported 3 blocks with whole cells, and 3 are needed");
    assertThat(isOpen(file)).isTrue();

    datanodes.fail(disks.get(2)); // its rows are there until a walk over the disk has ended
    real.recovery.commitBlockSynchronization(second.getBlockId(), stamp, 0, true, true, List.of());
    assertThat(isOpen(file)).isFalse();
    assertThat(real.status("/d/f").getLen()).isEqualTo(GROUP);
  }

  @Test
  void aGroupIsNotRemovedBeforeEveryHolderHasReportedItsDisk() throws IOException {
    Handle file = open("/d/f");
    Block first = report(file, add(real.writes, file, null), GROUP);
    Block second = add(real.writes, file, first);
    List<String> disks = disks(file);
    assertThat(real.recovery.release(file.fileId(), CLIENT)).isFalse();
    long stamp = orderedRecovery(file).getNewGenerationStamp();
    datanodes.registerAgain(disks.get(4));
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    second.getBlockId(), stamp, 0, true, true, List.of()))
        .hasMessageContaining("disk %s has not sent its full report yet".formatted(disks.get(4)));
    datanodes.reportFully(disks.get(4));
    real.recovery.commitBlockSynchronization(second.getBlockId(), stamp, 0, true, true, List.of());
    assertThat(isOpen(file)).isFalse();
  }

  /** A block of a dead server may make the group readable. */
  @Test
  void aRecoveryAlsoAsksServersThatMayComeBack() throws IOException {
    Handle file = open("/d/f");
    add(real.writes, file, null);
    List<String> disks = disks(file);
    for (int i = 0; i < 8; i++) {
      real.clock.advance(5_000);
      for (String disk : disks.subList(0, 4)) {
        datanodes.heartbeat(disk);
      }
      real.blocks.tick();
    }
    assertThat(real.cluster.liveServers()).hasSize(4);
    assertThat(real.recovery.release(file.fileId(), CLIENT)).isFalse();
    assertThat(orderedRecovery(file).getBlockIndices()).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void aDiskOfAnotherTypeLeavesTheOthersToGroups() throws IOException {
    datanodes.type("disk-5", StorageType.SSD);
    Handle file = open("/d/f");
    add(real.writes, file, null);
    assertThat(disks(file)).hasSize(5).doesNotContain("disk-5");
  }

  /** As in HDFS, ONE_SSD is not for groups. */
  @Test
  void aPolicyThatMixesTypesDoesNotHoldForGroups() throws IOException {
    datanodes.type("disk-5", StorageType.SSD);
    real.policies.set(real.root(), "/d", "ONE_SSD");
    Handle file = open("/d/f");
    add(real.writes, file, null);
    assertThat(disks(file)).hasSize(5).doesNotContain("disk-5");
  }

  private List<String> disks(Handle file) throws IOException {
    return blocksOfLast(file).stream()
        .flatMap(row -> row.value().getPipelineStorageUuidsList().stream())
        .toList();
  }

  @Test
  void fsckCountsTheBlocksOfGroups() throws IOException {
    Handle file = write("/d/f", GROUP, 1);
    String all = fsck(Map.of("path", "/", "files", "1", "blocks", "1", "locations", "1"));
    assertThat(all)
        .contains(
            "/d/f %d bytes, erasure-coded: policy=%s, 2 block(s):  OK".formatted(GROUP + 1, POLICY))
        .contains(" len=%d Live_repl=5  [blk_".formatted(GROUP))
        .contains(" len=1 Live_repl=3  [blk_")
        .contains(" Total block groups (validated):\t2")
        .contains(" Missing internal blocks:\t0 (0.0 %)")
        .contains(" Total blocks (validated):\t0")
        .contains("is HEALTHY");
    long inner = blocksOfLast(file).get(1).value().getBlockId();
    assertThat(fsck(Map.of("blockId", "blk_" + inner, "ugi", "root")))
        .contains("Block belongs to: /d/f");
  }

  private String fsck(Map<String, String> query) throws IOException {
    StringWriter out = new StringWriter();
    Fsck.Sources sources =
        new Fsck.Sources(real.store, real.inodes, real.reads, real.blocks, real.cluster);
    new Fsck(sources, "BP", 3, real.superuser, real.clock).write(query, "127.0.0.1", out);
    return out.toString();
  }

  @Test
  void aDrainWaitsForTheGroupsThatAreWritten() throws IOException {
    Handle file = open("/d/f");
    add(real.writes, file, null);
    String disk = disks(file).get(4);
    real.cluster.startDrain(disk.replace("disk", "server"));
    assertThat(real.blocks.writtenToLeavingServers(List.of(file.fileId())))
        .containsExactly(file.fileId());
  }

  @Test
  void theFormatRisesOnlyWithAPolicyThatIsSet() throws IOException {
    ErasureCodingService policies = new ErasureCodingService(real.store, real.clock);
    policies.set(real.root(), "/d", "replication");
    assertThatThrownBy(() -> real.creation.create(real.root(), request("/d/f", "nonsense")))
        .isInstanceOf(HadoopIllegalArgumentException.class);
    assertThatThrownBy(() -> policies.set(real.root(), "/none", "RS-6-3-1024k"))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> policies.set(real.user("nobody"), "/d", "RS-6-3-1024k"))
        .isInstanceOf(AccessControlException.class);
    assertThatThrownBy(
            () -> real.creation.create(real.user("nobody"), request("/d/f", "RS-6-3-1024k")))
        .isInstanceOf(AccessControlException.class);
    real.creation.create(real.root(), request("/d/replicas", "replication"));
    assertThat(format()).isNotEqualTo("6");
    policies.set(real.root(), "/d", "RS-6-3-1024k");
    assertThat(format()).isEqualTo("6");
  }

  @Test
  void theFormatRisesWithTheFirstFileThatNamesAPolicy() throws IOException {
    Inode file = real.creation.create(real.root(), request("/d/f", "RS-6-3-1024k"));
    assertThat(file.row().getEcPolicyId()).isEqualTo(SystemErasureCodingPolicies.RS_6_3_POLICY_ID);
    assertThat(format()).isEqualTo("6");
  }

  private String format() throws IOException {
    return real.store.transact(
        0,
        t ->
            t.get(Tables.SETTING, Tables.named("storeFormat"))
                .map(SettingRow::getValue)
                .orElse("1"));
  }

  @Test
  void quotasCountTheParitiesOfJoinedFiles() throws IOException {
    real.quotas.set(real.root(), "/d", 1_000, HdfsConstants.QUOTA_DONT_SET, null);
    write("/d/f", GROUP);
    write("/d/g", GROUP, 1);
    real.concat.concat(real.root(), "/d/f", List.of("/d/g"));
    long expected = 2 * LAYOUT.consumedBytes(GROUP) + LAYOUT.consumedBytes(1);
    assertThat(real.summaries.consumption(real.root(), "/d").spaceBytes()).isEqualTo(expected);
    assertThat(real.summaries.summarize(real.root(), "/d").spaceBytes()).isEqualTo(expected);
  }

  @Test
  void aSummaryOfASnapshotCountsParities() throws IOException {
    SnapshotService snapshots = new SnapshotService(real.store, real.clock, () -> {});
    snapshots.allow(real.root(), "/d");
    write("/d/f", GROUP, 1);
    snapshots.create(real.root(), "/d", "s");
    assertThat(real.summaries.summarize(real.root(), "/d/.snapshot/s/f").spaceBytes())
        .isEqualTo(LAYOUT.consumedBytes(GROUP) + LAYOUT.consumedBytes(1));
  }

  @Test
  void aReaderGetsThePlacesOfAGroupThatIsNotReportedYet() throws IOException {
    Handle file = open("/d/f");
    Block first = written(add(real.writes, file, null), GROUP);
    add(real.writes, file, first);
    LocatedBlock group =
        real.reads
            .locate(real.root(), "/d/f", 0, Long.MAX_VALUE, "127.0.0.1")
            .getLocatedBlocks()
            .get(0);
    assertThat(group.getLocations()).hasSize(5);
    assertThat(group.isCorrupt()).isFalse();
  }

  /** A snapshot keeps the length of a file: a group that is dropped later is not in it. */
  @Test
  void aFileDoesNotHaveTheBytesOfAGroupThatIsWritten() throws IOException {
    Handle file = open("/d/f");
    Block first = report(file, add(real.writes, file, null), GROUP);
    Block second = add(real.writes, file, first);
    Block newer = new Block(second.getBlockId(), 1_000, second.getGenerationStamp() + 100);
    real.writes.updatePipeline(CLIENT, second, newer, disks(file).subList(0, 4));
    real.writes.fsync(file, 2_000);
    assertThat(real.status("/d/f").getLen()).isEqualTo(GROUP);
    assertThat(disks(file)).hasSize(4);
    assertThat(real.writes.complete(file, report(file, newer, 3_000))).isTrue();
    assertThat(real.status("/d/f").getLen()).isEqualTo(GROUP + 3_000);
  }
}
