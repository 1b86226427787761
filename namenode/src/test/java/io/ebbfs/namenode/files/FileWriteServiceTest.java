package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileSettings;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.io.LeaseRecovery;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.apache.hadoop.hdfs.protocol.RecoveryInProgressException;
import org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls of an output stream: in order, repeated, too late, and from the wrong client. */
class FileWriteServiceTest {
  private static final String PATH = "/dir/file";
  private static final String CLIENT = "client";
  private static final long MIB = 1 << 20;

  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;
  private Handle handle;

  @BeforeEach
  void create() throws IOException {
    real = new NamespaceFixture();
    datanodes = new SimulatedDatanodes(real, 4);
    Inode file = real.creation.create(real.root(), real.request(PATH, CLIENT, false));
    handle = new Handle(PATH, file.id(), CLIENT, "127.0.0.1");
  }

  private Block add(Block previous) throws IOException {
    BlockRow added = real.writes.addBlock(handle, previous, Set.of()).block();
    return new Block(added.getBlockId(), added.getLengthBytes(), added.getGenerationStamp());
  }

  private static Block written(Block block, long length) {
    return new Block(block.getBlockId(), length, block.getGenerationStamp());
  }

  /** The chunk servers of the pipeline report the block. */
  private Block report(Block block, long length) throws IOException {
    Block finished = written(block, length);
    datanodes.report(finished, last().getStorageIDs());
    return finished;
  }

  private LocatedBlock last() throws IOException {
    return blocks().getLastLocatedBlock();
  }

  private LocatedBlocks blocks() throws IOException {
    return real.reads.locate(real.root(), PATH, 0, Long.MAX_VALUE, "127.0.0.1");
  }

  @Test
  void aFileGrowsBlockByBlock() throws IOException {
    Block first = report(add(null), MIB);
    Block second = add(first);
    assertThat(blocks().isUnderConstruction()).isTrue();
    assertThat(blocks().getLocatedBlocks()).hasSize(1);
    assertThat(blocks().getFileLength()).isEqualTo(MIB);
    second = report(second, 10);
    assertThat(real.writes.complete(handle, second)).isTrue();
    assertThat(blocks().isUnderConstruction()).isFalse();
    assertThat(blocks().getFileLength()).isEqualTo(MIB + 10);
    assertThat(blocks().isLastBlockComplete()).isTrue();
    assertThat(real.status(PATH).getLen()).isEqualTo(MIB + 10);
    assertThat(real.rows(Tables.LEASE)).isZero();
  }

  @Test
  void onlyTheAskedRangeIsAnswered() throws IOException {
    Block previous = null;
    for (int i = 0; i < 4; i++) {
      previous = report(add(previous), MIB);
    }
    real.writes.complete(handle, previous);
    LocatedBlocks middle = real.reads.locate(real.root(), PATH, MIB + 1, MIB, "127.0.0.1");
    assertThat(middle.getLocatedBlocks())
        .extracting(LocatedBlock::getStartOffset)
        .containsExactly(MIB, 2 * MIB);
    assertThat(middle.getLastLocatedBlock().getStartOffset()).isEqualTo(3 * MIB);
  }

  @Test
  void everyCallMayComeTwice() throws IOException {
    Block first = add(null);
    assertThat(add(null)).isEqualTo(first);
    first = report(first, MIB);
    Block second = add(first);
    assertThat(add(first)).isEqualTo(second);
    real.writes.abandonBlock(handle, second);
    real.writes.abandonBlock(handle, second);
    Block third = report(add(first), 5);
    assertThat(real.writes.complete(handle, third)).isTrue();
    assertThat(real.writes.complete(handle, third)).isTrue();
    assertThat(blocks().getFileLength()).isEqualTo(MIB + 5);
  }

  @Test
  void aWrongPreviousBlockIsRefused() throws IOException {
    Block first = report(add(null), MIB);
    Block second = report(add(first), MIB);
    Block third = add(second);
    assertThatThrownBy(() -> add(first)).hasMessageContaining("does not match actual last block");
    real.writes.fsync(handle, 100);
    assertThatThrownBy(() -> add(second)).hasMessageContaining("already contains 100 bytes");
    Block older = new Block(third.getBlockId(), 1, third.getGenerationStamp() - 1);
    assertThatThrownBy(() -> add(older)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> real.writes.complete(handle, older))
        .hasMessageContaining("mismatching GS");
  }

  @Test
  void whoWaitsForAReportHearsOfIt() throws IOException {
    IdGenerators ids = IdGenerators.of(real.store);
    FileWriteService patient =
        new FileWriteService(
            real.store,
            real.blocks,
            ids.blocks(),
            ids.inodes(),
            ids.generationStamps(),
            real.clock,
            NamespaceLimits.DEFAULT,
            new FileSettings(600_000, 600_000));
    Block first = written(add(null), MIB);
    Block second = written(add(first), MIB);
    assertThatThrownBy(() -> add(second)).isInstanceOf(NotReplicatedYetException.class);
    CompletableFuture<Void> firstArrives = patient.reported(handle, 1, second);
    assertThat(firstArrives).isNotDone();
    datanodes.reportAnywhere(first);
    assertThat(firstArrives).isCompleted();
    Block third = written(add(second), MIB);
    assertThat(patient.reported(handle, 1, third)).isNotDone();

    datanodes.reportAnywhere(second);
    assertThat(patient.complete(handle, third)).isFalse();
    CompletableFuture<Void> lastArrives = patient.reported(handle, 0, third);
    assertThat(lastArrives).isNotDone();
    datanodes.reportAnywhere(third);
    assertThat(lastArrives).isCompleted();
    assertThat(patient.complete(handle, third)).isTrue();
    assertThat(patient.reported(handle, 0, third)).isCompleted();
  }

  @Test
  void blocksWithoutReportsKeepTheFileOpen() throws IOException {
    Block first = written(add(null), MIB);
    Block second = written(add(first), MIB);
    assertThatThrownBy(() -> add(second)).isInstanceOf(NotReplicatedYetException.class);
    assertThat(real.writes.complete(handle, second)).isFalse();
    assertThat(blocks().isUnderConstruction()).isTrue();
    datanodes.reportAnywhere(first);
    datanodes.reportAnywhere(second);
    assertThat(real.writes.complete(handle, second)).isTrue();
  }

  @Test
  void onlyTheHolderWrites() throws IOException {
    Handle other = new Handle(PATH, handle.fileId(), "other", "127.0.0.1");
    assertThatThrownBy(() -> real.writes.addBlock(other, null, Set.of()))
        .isInstanceOf(LeaseExpiredException.class)
        .hasMessageContaining("other")
        .hasMessageContaining(CLIENT);
    assertThatThrownBy(() -> real.creation.create(real.root(), real.request(PATH, "other", false)))
        .isInstanceOf(AlreadyBeingCreatedException.class);
    real.writes.complete(handle, null);
    assertThatThrownBy(() -> add(null)).isInstanceOf(LeaseExpiredException.class);
    assertThatThrownBy(() -> real.creation.create(real.root(), real.request(PATH, "other", false)))
        .isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aRenamedFileIsWrittenOnADeletedOneIsNot() throws IOException {
    Block first = report(add(null), MIB);
    real.renames.rename(real.root(), "/dir", "/moved");
    Block second = add(first);
    datanodes.reportAnywhere(written(second, 7));
    real.deletions.delete(real.root(), "/moved", true);
    assertThatThrownBy(() -> add(second)).isInstanceOf(FileNotFoundException.class);
    assertThatThrownBy(() -> real.writes.complete(handle, written(second, 7)))
        .isInstanceOf(FileNotFoundException.class);
    real.reaper.reapAll();
    assertThat(real.rows(Tables.BLOCK)).isZero();
    assertThat(real.rows(Tables.BLOCK_OWNER)).isZero();
    assertThat(real.rows(Tables.REPLICA)).isZero();
    assertThat(real.rows(Tables.LEASE)).isZero();
  }

  @Test
  void aRepairedPipelineGivesTheBlockANewGeneration() throws IOException {
    Block block = add(null);
    long stamp = real.writes.newGenerationStamp(block, CLIENT);
    assertThat(stamp).isGreaterThan(block.getGenerationStamp());
    Block repaired = new Block(block.getBlockId(), 10, stamp);
    List<String> storages = List.of(last().getStorageIDs()[0]);
    real.writes.updatePipeline(CLIENT, block, repaired, storages);
    real.writes.updatePipeline(CLIENT, block, repaired, storages);
    assertThat(last().getBlock().getGenerationStamp()).isEqualTo(stamp);
    assertThat(last().getStorageIDs()).containsExactlyElementsOf(storages);
    assertThatThrownBy(() -> real.writes.complete(handle, written(block, 10)))
        .hasMessageContaining("mismatching GS");
    datanodes.report(repaired, storages.toArray(String[]::new));
    assertThat(real.writes.complete(handle, repaired)).isTrue();
  }

  @Test
  void anOlderGenerationOfThePipelineIsRefused() throws IOException {
    Block block = add(null);
    Block newer = new Block(block.getBlockId(), 10, real.writes.newGenerationStamp(block, CLIENT));
    Block newest = new Block(block.getBlockId(), 10, real.writes.newGenerationStamp(block, CLIENT));
    real.writes.updatePipeline(CLIENT, block, newest, List.of("s"));
    assertThatThrownBy(() -> real.writes.updatePipeline(CLIENT, block, newer, List.of("s")))
        .hasMessageContaining("older state");
  }

  /** Two namenodes on one store: each takes its stamps from a range of its own. */
  @Test
  void aLaterStampOfABlockIsGreaterWhicheverNamenodeGivesIt() throws IOException {
    IdGenerators ids = IdGenerators.of(real.store);
    ids.generationStamps().next(); // reserves a range
    Block block = add(null);
    FileWriteService other =
        new FileWriteService(
            real.store,
            real.blocks,
            ids.blocks(),
            ids.inodes(),
            ids.generationStamps(),
            real.clock,
            NamespaceLimits.DEFAULT,
            FileSettings.DEFAULT);
    long first = other.newGenerationStamp(block, CLIENT);
    long second = real.writes.newGenerationStamp(block, CLIENT);
    long third = other.newGenerationStamp(block, CLIENT);
    assertThat(List.of(block.getGenerationStamp(), first, second, third))
        .isSorted()
        .doesNotHaveDuplicates();
    // The recovery comes from a range that may be older, too.
    LeaseRecovery recovery =
        new LeaseRecovery(
            real.store,
            real.blocks,
            real.stripes,
            (file, encoded) -> {},
            real.leases,
            IdGenerators.of(real.store).generationStamps(),
            real.clock,
            FileSettings.DEFAULT);
    long fourth = real.writes.newGenerationStamp(block, CLIENT);
    assertThat(recovery.release(handle.fileId(), CLIENT)).isFalse();
    assertThat(recoveryStamp()).isGreaterThan(fourth);
    long fifth = recoveryStamp();
    assertThat(real.recovery.release(handle.fileId(), LeaseManager.RECOVERY_HOLDER)).isFalse();
    assertThat(recoveryStamp()).isGreaterThan(fifth);
  }

  @Test
  void aWriterOfWhomOnlyAnotherNamenodeHasHeardKeepsItsFile() throws IOException {
    // The client was here before, and is forgotten only after the hard limit.
    real.leases.renew("elsewhere");
    real.clock.advance(NamespaceFixture.HARD_MILLIS + 1);
    NamespaceFixture another = new NamespaceFixture(real.store);
    another.clock.advance(NamespaceFixture.HARD_MILLIS + 1);
    another.creation.create(another.root(), another.request("/new", "elsewhere", false));
    real.monitor.tick();
    assertThatThrownBy(
            () -> real.creation.create(real.root(), real.request("/new", "other", false)))
        .isInstanceOf(AlreadyBeingCreatedException.class)
        .hasMessageContaining("elsewhere");
    real.clock.advance(NamespaceFixture.SOFT_MILLIS + 1);
    assertThatThrownBy(
            () -> real.creation.create(real.root(), real.request("/new", "other", false)))
        .isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aFileWithoutBlocksIsClosedAfterTheHardLimit() throws IOException {
    real.clock.advance(NamespaceFixture.HARD_MILLIS / 2);
    real.leases.renew(CLIENT);
    real.clock.advance(NamespaceFixture.HARD_MILLIS / 2 + 1);
    real.monitor.tick();
    assertThat(blocks().isUnderConstruction()).isTrue();
    real.clock.advance(NamespaceFixture.HARD_MILLIS / 2);
    real.monitor.tick();
    assertThat(blocks().isUnderConstruction()).isFalse();
    assertThatThrownBy(() -> add(null)).isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void anotherClientTakesOverAfterTheSoftLimit() throws IOException {
    Block block = add(null);
    real.writes.fsync(handle, 10);
    real.clock.advance(NamespaceFixture.SOFT_MILLIS + 1);
    assertThatThrownBy(() -> real.creation.create(real.root(), real.request(PATH, "other", false)))
        .isInstanceOf(RecoveryInProgressException.class);
    assertThatThrownBy(() -> add(block)).isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void aRecoveredLastBlockClosesItsFile() throws IOException {
    Block block = add(null);
    String[] storages = last().getStorageIDs();
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    long first = recoveryStamp();
    real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS + 1);
    real.monitor.tick();
    long second = recoveryStamp();
    assertThat(second).isGreaterThan(first);

    assertThatThrownBy(() -> synchronize(block, first, storages))
        .hasMessageContaining("does not match current recovery id " + second);
    synchronize(block, second, storages);
    synchronize(block, second, storages);
    assertThat(blocks().isUnderConstruction()).isFalse();
    assertThat(blocks().getFileLength()).isEqualTo(77);
    assertThat(last().getBlock().getGenerationStamp()).isEqualTo(second);
    assertThat(real.rows(Tables.LEASE)).isZero();
  }

  private void synchronize(Block block, long stamp, String[] storages) throws IOException {
    real.recovery.commitBlockSynchronization(
        block.getBlockId(), stamp, 77, true, false, List.of(storages));
  }

  private long recoveryStamp() throws IOException {
    return real.store.transact(
        handle.fileId(),
        t ->
            t.get(Tables.BLOCK, Tables.block(handle.fileId(), 0))
                .orElseThrow()
                .getRecoveryGenerationStamp());
  }

  @Test
  void aLastBlockWithoutAnyByteGoesInItsRecovery() throws IOException {
    Block first = report(add(null), MIB);
    Block second = add(first);
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    long stamp =
        real.store.transact(
            handle.fileId(),
            t ->
                t.get(Tables.BLOCK, Tables.block(handle.fileId(), 1))
                    .orElseThrow()
                    .getRecoveryGenerationStamp());
    real.recovery.commitBlockSynchronization(second.getBlockId(), stamp, 0, true, true, List.of());
    assertThat(blocks().isUnderConstruction()).isFalse();
    assertThat(blocks().getFileLength()).isEqualTo(MIB);
    assertThat(blocks().getLocatedBlocks()).hasSize(1);
  }

  /** A server that restarts says "no replica" before it has scanned its disks. */
  @Test
  void aHolderThatHasNotReportedItsDiskCannotMakeARecoveryDropTheBlock() throws IOException {
    Block block = add(null);
    String[] holders = last().getStorageIDs();
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    long stamp = recoveryStamp();
    datanodes.registerAgain(holders[0]);
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    block.getBlockId(), stamp, 0, true, true, List.of()))
        .hasMessageContaining(holders[0])
        .hasMessageContaining("repeated");
    assertThatThrownBy(() -> synchronize(block, stamp, new String[] {holders[1]}))
        .hasMessageContaining(holders[0]);
    assertThat(blocks().isUnderConstruction()).isTrue();
    datanodes.reportFully(holders[0]);
    synchronize(block, stamp, new String[] {holders[1]});
    assertThat(blocks().getFileLength()).isEqualTo(77);
  }

  /** Else one that takes longer than the pause would be made void by the next, for ever. */
  @Test
  void recoveriesThatDoNotEndGetMoreTime() throws IOException {
    add(null);
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    long last = recoveryStamp();
    for (int pauses : new int[] {1, 1, 2, 2, 3, 3}) {
      real.clock.advance(pauses * NamespaceFixture.RECOVERY_RETRY_MILLIS - 1);
      tickOften();
      assertThat(recoveryStamp()).isEqualTo(last);
      real.clock.advance(1);
      tickOften();
      assertThat(recoveryStamp()).isGreaterThan(last);
      last = recoveryStamp();
    }
  }

  /** It may ask each second. */
  @Test
  void aClientThatAsksAgainMakesNoSlowRecoveryVoid() throws IOException {
    add(null);
    assertThat(real.recovery.releaseAgain(handle.fileId(), CLIENT)).isFalse();
    for (int i = 0; i < 3; i++) {
      long running = recoveryStamp();
      for (int third = 0; third < 3; third++) {
        real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS - 1);
        real.recovery.releaseAgain(handle.fileId(), LeaseManager.RECOVERY_HOLDER);
        assertThat(recoveryStamp()).isEqualTo(running);
      }
      real.clock.advance(3);
      real.recovery.releaseAgain(handle.fileId(), LeaseManager.RECOVERY_HOLDER);
      assertThat(recoveryStamp()).isGreaterThan(running);
    }
  }

  /** A recovery that was never ordered, or whose result was refused at once, is not slow. */
  @Test
  void onlySlowRecoveriesGetMoreTime() throws IOException {
    Block block = add(null);
    String[] holders = last().getStorageIDs();
    datanodes.registerAgain(holders[0]);
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    for (int i = 0; i < 20; i++) {
      boolean ordered = i >= 10;
      if (ordered) {
        datanodes.reportFully(holders[0]);
      }
      long before = recoveryStamp();
      real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS);
      for (String holder : holders) {
        datanodes.heartbeat(holder);
      }
      tickOften();
      long stamp = recoveryStamp();
      assertThat(stamp).as("attempt " + i).isGreaterThan(before);
      if (ordered) {
        datanodes.registerAgain(holders[0]);
        assertThatThrownBy(() -> synchronize(block, stamp, new String[] {holders[1]}))
            .hasMessageContaining("repeated");
      }
    }
  }

  private void tickOften() {
    for (int tick = 0; tick < 10; tick++) {
      real.monitor.tick();
    }
  }

  @Test
  void noRecoveryIsOrderedBeforeEveryHolderHasReportedItsDisk() throws IOException {
    add(null);
    String[] holders = last().getStorageIDs();
    datanodes.registerAgain(holders[0]);
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    assertThat(recoveriesOrdered(holders)).isZero();
    datanodes.reportFully(holders[0]);
    real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS + 1);
    real.monitor.tick();
    assertThat(recoveriesOrdered(holders)).isEqualTo(1);
  }

  private long recoveriesOrdered(String[] holders) throws IOException {
    long orders = 0;
    for (String holder : holders) {
      orders +=
          datanodes.heartbeat(holder).stream()
              .filter(command -> command.getAction() == DatanodeProtocol.DNA_RECOVERBLOCK)
              .count();
    }
    return orders;
  }

  /** The client has synced 100 bytes; the one holder that has them all is away. */
  @Test
  void aRecoveryNeverCutsSyncedBytesWhileAHolderIsAway() throws IOException {
    Block block = add(null);
    String[] holders = last().getStorageIDs();
    real.writes.fsync(handle, 100);
    assertThat(real.recovery.release(handle.fileId(), CLIENT)).isFalse();
    real.clock.advance(20_000);
    for (int i = 1; i < holders.length; i++) {
      datanodes.heartbeat(holders[i]);
    }
    real.blocks.tick();
    real.clock.advance(4_000);
    for (int i = 1; i < holders.length; i++) {
      datanodes.heartbeat(holders[i]);
    }
    real.blocks.tick();
    assertThat(real.cluster.isLive(holders[0])).isFalse();
    assertThatThrownBy(() -> synchronize(block, recoveryStamp(), new String[] {holders[1]}))
        .hasMessageContaining(holders[0])
        .hasMessageContaining("out of service");
    assertThat(blocks().isUnderConstruction()).isTrue();
  }

  @Test
  void limitsAreNamed() {
    assertThatThrownBy(
            () ->
                real.creation.create(
                    real.root(),
                    new FileCreationService.Request(
                        "/x", 0644, "c", "m", true, false, true, 3, 1000)))
        .hasMessageContaining("minBlockSize 65536");
    assertThatThrownBy(
            () ->
                real.creation.create(
                    real.root(),
                    new FileCreationService.Request(
                        "/x", 0644, "c", "m", true, false, true, 0, MIB)))
        .hasMessageContaining("not within 1 and 512");
    assertThatThrownBy(() -> real.mkdirs("/" + "n".repeat(256)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("256");
    assertThatThrownBy(() -> real.mkdirs("/d".repeat(1001)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("1000 levels");
  }
}
