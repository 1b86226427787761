package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileSettings;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.io.LeaseRecovery;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.LaggingStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException;
import org.apache.hadoop.hdfs.server.namenode.SafeModeException;
import org.apache.hadoop.ipc.RetriableException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Truncations and concats of many blocks, of encoded blocks, and calls that come twice. */
class TruncateServiceTest {
  private static final byte[] CLIENT_ID = "sixteen bytes id".getBytes();
  private static final long BLOCK = NamespaceFixture.BLOCK_BYTES;

  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;
  private long nextBlock = 5_000_000_000L;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(InMemoryStore.shared());
    datanodes = new SimulatedDatanodes(real, 4);
  }

  /** A closed file of full blocks, of which only rows exist. */
  private Inode fileOf(String path, int blocks) throws IOException {
    Inode file = real.touch(path);
    real.store.transact(
        file.id(),
        transaction -> {
          for (int i = 0; i < blocks; i++) {
            long id = nextBlock++;
            transaction.put(
                Tables.BLOCK,
                Tables.block(file.id(), i),
                BlockRow.newBuilder()
                    .setBlockId(id)
                    .setGenerationStamp(1)
                    .setLengthBytes(BLOCK)
                    .setReplication(3)
                    .setState(BlockStateProto.COMPLETE)
                    .build());
            transaction.put(
                Tables.BLOCK_OWNER,
                Tables.blockOwner(id),
                BlockOwnerRow.newBuilder().setOwnerId(file.id()).setIndex(i).build());
          }
          transaction.put(
              Tables.INODE,
              file.key(),
              row(file).toBuilder().setBlocks(blocks).setLengthBytes(blocks * BLOCK).build());
          return null;
        });
    return file;
  }

  private InodeRow row(Inode file) throws IOException {
    return real.store
        .transact(file.id(), transaction -> transaction.get(Tables.INODE, file.key()))
        .orElseThrow();
  }

  private List<Row<BlockRow>> blocks(Inode file) throws IOException {
    return real.store.transact(file.id(), t -> t.scan(Tables.BLOCK, file.id()));
  }

  private void setLast(Inode file, BlockRow block) throws IOException {
    real.store.transact(
        file.id(),
        transaction -> {
          transaction.put(Tables.BLOCK, Tables.block(file.id(), row(file).getBlocks() - 1), block);
          return null;
        });
  }

  private static TruncateService.Request request(String path, long length) {
    return new TruncateService.Request(path, length, "client", "127.0.0.1");
  }

  /** A store whose process dies after so many transactions. */
  private MetadataStore dyingAfter(int transactions) {
    AtomicInteger left = new AtomicInteger(transactions);
    return (MetadataStore)
        Proxy.newProxyInstance(
            MetadataStore.class.getClassLoader(),
            new Class<?>[] {MetadataStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().startsWith("transact") && left.decrementAndGet() < 0) {
                throw new IOException("the process is dead");
              }
              try {
                return method.invoke(real.store, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aTruncationThatDiesBetweenItsTransactionsIsFinished() throws IOException {
    int finished = 0;
    for (int steps = 0; finished == 0; steps++) {
      assertThat(steps).as("transactions").isLessThan(30);
      String path = "/file" + steps;
      Inode file = fileOf(path, 1_300);
      MetadataStore dying = dyingAfter(steps);
      LeaseRecovery recovery =
          new LeaseRecovery(
              dying,
              real.blocks,
              real.stripes,
              (id, block) -> {},
              real.leases,
              IdGenerators.of(real.store).generationStamps(),
              real.clock,
              FileSettings.DEFAULT);
      boolean begun = true;
      try {
        boolean done =
            new TruncateService(dying, real.clock, recovery)
                .truncate(real.root(), request(path, 2 * BLOCK));
        assertThat(done).isTrue();
        finished++;
      } catch (IOException e) {
        begun = row(file).hasUnderConstruction();
        assertThat(row(file).getLengthBytes()).isBetween(2 * BLOCK, 1_300 * BLOCK);
      }
      assertThat(blocks(file)).hasSize(row(file).getBlocks());
      real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS);
      real.monitor.tick();
      assertThat(row(file).hasUnderConstruction()).isFalse();
      assertThat(row(file).getLengthBytes()).isEqualTo((begun ? 2 : 1_300) * BLOCK);
      assertThat(blocks(file)).hasSize(begun ? 2 : 1_300);
    }
  }

  /** A file with one block on all servers. */
  private Inode written(String path, long length) throws IOException {
    Inode file = real.creation.create(real.root(), real.request(path, "writer", false));
    Handle handle = new Handle(path, file.id(), "writer", "127.0.0.1");
    BlockRow added = real.writes.addBlock(handle, null, Set.of()).block();
    Block block = new Block(added.getBlockId(), length, added.getGenerationStamp());
    datanodes.report(block, added.getPipelineStorageUuidsList().toArray(String[]::new));
    assertThat(real.writes.complete(handle, block)).isTrue();
    return file;
  }

  /** Puts the block of /f in a stripe and cuts the file; returns the row outside of the stripe. */
  private BlockRow cutWhileInStripe(Inode file) throws IOException {
    BlockRow block = blocks(file).get(0).value();
    setLast(file, block.toBuilder().setStripeId(77).setStripePosition(0).build());
    assertThat(real.truncation.truncate(real.root(), request("/f", 400))).isFalse();
    return block;
  }

  @Test
  void aBlockIsCutThoughAQuotaHasNoRoomForAFullBlock() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow block = blocks(file).get(0).value();
    setLast(file, block.toBuilder().setStripeId(77).setStripePosition(0).build());
    real.quotas.set(real.root(), "/", QuotaServiceTest.KEEP, 3_000, null);
    assertThat(real.truncation.truncate(real.root(), request("/f", 400))).isFalse();
    setLast(file, block); // it has left its stripe
    real.monitor.tick();
    assertThat(blocks(file).get(0).value().getState()).isEqualTo(BlockStateProto.RECOVERING);
    assertThat(QuotaCheck.run(real.store)).isEmpty();
  }

  @Test
  void aTruncationThatHasToWaitIsLookedAtLessAndLessOften() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow block = cutWhileInStripe(file);
    for (int tick = 0; tick < 39; tick++) {
      real.monitor.tick();
    }
    // One look of the truncation itself; then four at each tick, four at each second tick, and so
    // on.
    assertThat(real.freed).hasSize(1 + 4 + 4 + 4 + 4);
  }

  @Test
  void aTruncationThatHasWaitedForItsStripeIsNotTakenForSlow() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow block = cutWhileInStripe(file);
    for (int tick = 0; tick < 40; tick++) {
      real.monitor.tick();
    }
    setLast(file, block); // it has left
    for (int tick = 0; tick < 8; tick++) {
      real.monitor.tick();
    }
    long lost = blocks(file).get(0).value().getRecoveryGenerationStamp();
    assertThat(lost).isPositive();
    real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS);
    for (int tick = 0; tick < 8; tick++) {
      real.monitor.tick();
    }
    assertThat(blocks(file).get(0).value().getRecoveryGenerationStamp()).isGreaterThan(lost);
  }

  /** A file of 1,000 bytes with three replicas, which full reports have named. */
  private Inode verified() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow row = blocks(file).get(0).value();
    Block block = new Block(row.getBlockId(), row.getLengthBytes(), row.getGenerationStamp());
    for (Row<ReplicaRow> replica :
        real.store.transact(file.id(), t -> t.scan(Tables.REPLICA, file.id()))) {
      datanodes.reportFully(Tables.replicaStorage(replica.key()), block);
    }
    assertThat(verifiedReplicas()).isEqualTo(3);
    return file;
  }

  private long verifiedReplicas() throws IOException {
    return real.store.scanAll(Tables.STORAGE_REPLICA, null, 100).stream()
        .filter(row -> row.value().hasVerifiedGenerationStamp())
        .count();
  }

  @Test
  void anAppendHasTheNextReportsCompareTheReplicasWithAllRows() throws IOException {
    verified();
    FileAppendService appends =
        new FileAppendService(real.store, real.blocks, real.clock, real.leases, real.recovery);
    appends.append(real.root(), new FileAppendService.Request("/f", "writer", "127.0.0.1", false));
    assertThat(verifiedReplicas()).isZero();
  }

  @Test
  void aTruncationHasTheNextReportsCompareTheReplicasWithAllRows() throws IOException {
    verified();
    assertThat(real.truncation.truncate(real.root(), request("/f", 400))).isFalse();
    assertThat(verifiedReplicas()).isZero();
  }

  /** What a file has waited for before counts no more. */
  @Test
  void aFileThatIsClosedAndOpenedAgainIsReleasedAsSoonAsAnyOther() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow block = cutWhileInStripe(file);
    int looks = 20;
    while (real.freed.size() < looks) {
      real.monitor.tick();
    }
    setLast(file, block); // it has left, just after a look
    assertThat(real.recovery.release(file.id(), LeaseManager.RECOVERY_HOLDER)).isFalse();
    BlockRow cut = blocks(file).get(0).value();
    real.recovery.commitBlockSynchronization(
        cut.getBlockId(),
        cut.getRecoveryGenerationStamp(),
        400,
        true,
        false,
        cut.getPipelineStorageUuidsList());
    datanodes.report(
        new Block(cut.getBlockId(), 400, cut.getRecoveryGenerationStamp()),
        cut.getPipelineStorageUuidsList().toArray(String[]::new));
    FileAppendService appends =
        new FileAppendService(real.store, real.blocks, real.clock, real.leases, real.recovery);
    appends.append(real.root(), new FileAppendService.Request("/f", "writer", "127.0.0.1", false));
    real.leases.renew("writer");
    real.monitor.tick();
    assertThat(row(file).getUnderConstruction().getClientName()).isEqualTo("writer");
    real.clock.advance(NamespaceFixture.HARD_MILLIS + 1);
    real.monitor.tick();
    assertThat(row(file).getUnderConstruction().getClientName()).isNotEqualTo("writer");
  }

  @Test
  void aBlockLeavesItsStripeBeforeItIsCut() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow block = cutWhileInStripe(file);
    assertThat(real.freed).containsExactly(block.getBlockId());
    assertThat(row(file).getLengthBytes()).isEqualTo(1_000);
    real.monitor.tick();
    assertThat(real.freed).as("asked again").hasSize(2);
    setLast(file, block); // it has left
    real.monitor.tick();
    BlockRow cut = blocks(file).get(0).value();
    assertThat(cut.getState()).isEqualTo(BlockStateProto.RECOVERING);
    assertThat(cut.getRecoveryLengthBytes()).isEqualTo(400);
    List<String> disks = cut.getPipelineStorageUuidsList();
    assertThat(disks).hasSize(3);
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    cut.getBlockId(), cut.getRecoveryGenerationStamp(), 401, true, false, disks))
        .hasMessageContaining("400");
    real.recovery.commitBlockSynchronization(
        cut.getBlockId(), cut.getRecoveryGenerationStamp(), 400, true, false, disks);
    assertThat(row(file).hasUnderConstruction()).isFalse();
    assertThat(row(file).getLengthBytes()).isEqualTo(400);
  }

  /** A file of 1,000 bytes whose one block is about to be cut to 400. */
  private Inode beingCut() throws IOException {
    Inode file = written("/f", 1_000);
    assertThat(real.truncation.truncate(real.root(), request("/f", 400))).isFalse();
    assertThat(blocks(file).get(0).value().getRecoveryLengthBytes()).isEqualTo(400);
    return file;
  }

  private static void assertRefused(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(LeaseExpiredException.class);
  }

  @Test
  void nobodyActsUnderTheNameOfTheNamenode() throws IOException {
    Inode file = beingCut();
    BlockRow row = blocks(file).get(0).value();
    Block block = new Block(row.getBlockId(), 7, row.getGenerationStamp());
    String name = LeaseManager.RECOVERY_HOLDER;
    Handle handle = new Handle("/f", file.id(), name, "127.0.0.1");
    assertRefused(() -> real.writes.abandonBlock(handle, block));
    assertRefused(() -> real.writes.complete(handle, block));
    assertRefused(() -> real.writes.complete(handle, null));
    assertRefused(() -> real.writes.addBlock(handle, block, Set.of()));
    assertRefused(() -> real.writes.fsync(handle, 7));
    assertRefused(() -> real.writes.newGenerationStamp(block, name));
    assertRefused(() -> real.creation.create(real.root(), real.request("/new", name, false)));
    assertRefused(
        () ->
            real.truncation.truncate(
                real.root(), new TruncateService.Request("/f", 400, name, "127.0.0.1")));
    FileAppendService appends =
        new FileAppendService(real.store, real.blocks, real.clock, real.leases, real.recovery);
    assertRefused(
        () ->
            appends.append(
                real.root(), new FileAppendService.Request("/f", name, "127.0.0.1", false)));
    assertThat(blocks(file).get(0).value()).isEqualTo(row);
  }

  @Test
  void aTruncationNeverDeletesItsBlock() throws IOException {
    Inode file = beingCut();
    BlockRow cut = blocks(file).get(0).value();
    long stamp = cut.getRecoveryGenerationStamp();
    assertThatThrownBy(
            () ->
                real.recovery.commitBlockSynchronization(
                    cut.getBlockId(), stamp, 0, true, true, cut.getPipelineStorageUuidsList()))
        .hasMessageContaining("to be truncated to 400 bytes");
    assertThat(blocks(file).get(0).value()).isEqualTo(cut);
  }

  @Test
  void aWholeReplicaThatIsBackTakesPartWhenTheCutIsRepeated() throws IOException {
    Inode file = beingCut();
    BlockRow cut = blocks(file).get(0).value();
    List<String> all = cut.getPipelineStorageUuidsList();
    setLast(
        file,
        cut.toBuilder().clearPipelineStorageUuids().addPipelineStorageUuids(all.get(0)).build());
    real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS);
    for (String disk : all) {
      datanodes.heartbeat(disk);
    }
    real.monitor.tick();
    BlockRow again = blocks(file).get(0).value();
    assertThat(again.getRecoveryGenerationStamp()).isGreaterThan(cut.getRecoveryGenerationStamp());
    assertThat(again.getPipelineStorageUuidsList()).containsExactlyInAnyOrderElementsOf(all);
    assertThat(again.getRecoveryLengthBytes()).isEqualTo(400);
  }

  /** The server of the replica has read it, and says so. */
  private void findBad(Inode file, String disk) throws IOException {
    BlockRow block = blocks(file).get(0).value();
    real.store.transact(
        file.id(),
        transaction -> {
          var key = Tables.replica(file.id(), block.getBlockId(), disk);
          ReplicaRow good = transaction.get(Tables.REPLICA, key).orElseThrow();
          transaction.put(
              Tables.REPLICA,
              key,
              good.toBuilder().setState(ReplicaStateProto.CORRUPT).setFoundBad(true).build());
          return null;
        });
  }

  @Test
  void aReplicaWithADamagedChunkIsCutOnce() throws IOException {
    Inode file = beingCut();
    assertThat(real.recovery.waits().told()).as("it has just begun").isEmpty();
    List<String> all = blocks(file).get(0).value().getPipelineStorageUuidsList();
    findBad(file, all.get(0));
    real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS);
    real.monitor.tick();
    BlockRow again = blocks(file).get(0).value();
    assertThat(again.getPipelineStorageUuidsList())
        .containsExactlyInAnyOrderElementsOf(all.subList(1, 3));
    findBad(file, all.get(1));
    findBad(file, all.get(2));
    real.clock.advance(NamespaceFixture.RECOVERY_RETRY_MILLIS);
    for (int tick = 0; tick < 10; tick++) {
      real.monitor.tick();
    }
    assertThat(blocks(file).get(0).value()).as("there is nothing to cut").isEqualTo(again);
    real.clock.advance(600_000);
    assertThat(real.recovery.waits().told())
        .singleElement()
        .matches(waiting -> waiting.fileId() == file.id())
        .matches(waiting -> waiting.reason().contains("no good replica"));
    real.deletions.delete(real.root(), "/f", false);
    for (int tick = 0; tick < 10; tick++) {
      real.monitor.tick();
    }
    assertThat(real.recovery.waits().told()).isEmpty();
  }

  @Test
  void aBlockThatCannotLeaveItsStripeIsNotCut() throws IOException {
    Inode file = written("/f", 1_000);
    BlockRow block = blocks(file).get(0).value();
    setLast(file, block.toBuilder().setStripeId(77).setStripePosition(0).build());
    real.obstacle = Optional.of(new EncodedBlocks.Obstacle("stripe 77 does not decode", true));
    assertThatThrownBy(() -> real.truncation.truncate(real.root(), request("/f", 400)))
        .hasMessageContaining("/f to 400 bytes")
        .hasMessageContaining("stripe 77 does not decode");
    real.obstacle = Optional.of(new EncodedBlocks.Obstacle("servers are awaited", false, true));
    assertThatThrownBy(() -> real.truncation.truncate(real.root(), request("/f", 400)))
        .isInstanceOf(RetriableException.class)
        .hasCauseInstanceOf(SafeModeException.class)
        .hasMessageContaining("servers are awaited");
    assertThat(row(file).hasUnderConstruction()).isFalse();
    assertThat(real.truncation.truncate(real.root(), request("/f", 1_000))).isTrue();

    real.obstacle = Optional.of(new EncodedBlocks.Obstacle("stripe 77 is repaired first", false));
    assertThat(real.truncation.truncate(real.root(), request("/f", 400))).isFalse();
    assertThat(real.recovery.waits().told()).isEmpty();
    real.obstacle = Optional.of(new EncodedBlocks.Obstacle("stripe 77 does not decode", true));
    real.monitor.tick();
    assertThat(real.recovery.waits().told())
        .singleElement()
        .matches(waiting -> waiting.reason().equals("stripe 77 does not decode"));
    setLast(file, block);
    real.monitor.tick();
    BlockRow cut = blocks(file).get(0).value();
    real.recovery.commitBlockSynchronization(
        cut.getBlockId(),
        cut.getRecoveryGenerationStamp(),
        400,
        true,
        false,
        cut.getPipelineStorageUuidsList());
    real.monitor.tick();
    assertThat(real.recovery.waits().told()).isEmpty();
    assertThat(row(file).getLengthBytes()).isEqualTo(400);
  }

  @Test
  void wholeBlocksAreRemovedThoughTheirStripeDoesNotDecode() throws IOException {
    Inode file = fileOf("/f", 1_200);
    BlockRow last = blocks(file).get(1_199).value();
    setLast(file, last.toBuilder().setStripeId(77).build());
    real.obstacle = Optional.of(new EncodedBlocks.Obstacle("stripe 77 does not decode", true));
    assertThatThrownBy(
            () -> real.truncation.truncate(real.root(), request("/f", 1_200 * BLOCK - 1)))
        .hasMessageContaining("encoded block " + (nextBlock - 1));
    for (long length : new long[] {1, BLOCK + 1}) {
      assertThatThrownBy(() -> real.truncation.truncate(real.root(), request("/f", length)))
          .hasMessageContaining("encoded block " + (nextBlock - 1_200 + length / BLOCK));
    }
    setLast(file, last); // here is no stripe from which a block could be removed
    assertThat(real.truncation.truncate(real.root(), request("/f", 3 * BLOCK))).isTrue();
    assertThat(blocks(file)).hasSize(3);
  }

  @Test
  void aFileThatAnotherClientHoldsByNowIsLeftAlone() throws IOException {
    Inode file = real.creation.create(real.root(), real.request("/f", "writer", false));
    InodeRow before = row(file);
    assertThat(real.recovery.release(file.id(), LeaseManager.RECOVERY_HOLDER)).isFalse();
    assertThat(row(file)).isEqualTo(before);
    assertThat(real.recovery.release(file.id(), "writer")).isTrue();
  }

  /** An older version closes a file without a look at the length to which its block is cut. */
  @Test
  void aLengthThatAnOlderVersionHasLeftCutsNothing() throws IOException {
    Inode file = written("/f", 1_000);
    setLast(file, blocks(file).get(0).value().toBuilder().setRecoveryLengthBytes(5).build());
    FileAppendService appends =
        new FileAppendService(real.store, real.blocks, real.clock, real.leases, real.recovery);
    appends.append(real.root(), new FileAppendService.Request("/f", "writer", "127.0.0.1", false));
    BlockRow open = blocks(file).get(0).value();
    assertThat(open.hasRecoveryLengthBytes()).isFalse();
    setLast(file, open.toBuilder().setRecoveryLengthBytes(5).build()); // opened by that version
    assertThat(real.recovery.release(file.id(), "writer")).isFalse();
    BlockRow recovering = blocks(file).get(0).value();
    assertThat(recovering.getState()).isEqualTo(BlockStateProto.RECOVERING);
    assertThat(recovering.hasRecoveryLengthBytes()).isFalse();
  }

  @Test
  void aDamagedFileEndsTheTruncationWithAnError() throws IOException {
    Inode file = beingCut();
    real.store.transact(
        file.id(),
        transaction -> {
          transaction.put(Tables.INODE, file.key(), row(file).toBuilder().setBlocks(0).build());
          return null;
        });
    assertThatThrownBy(() -> real.recovery.release(file.id(), LeaseManager.RECOVERY_HOLDER))
        .hasMessageContaining("no blocks and 1000 bytes");
  }

  private <R> R call(int id, boolean repeated, ClientCall.Work<R> work) throws IOException {
    return ClientCall.run(ClientCall.of(CLIENT_ID, id, "ann", repeated).orElseThrow(), work);
  }

  @Test
  void aTruncationThatComesTwiceTakesEffectOnce() throws IOException {
    Inode file = fileOf("/f", 5);
    ClientCall.Work<Boolean> truncate =
        () -> real.truncation.truncate(real.root(), request("/f", 3 * BLOCK));
    assertThat(call(1, false, truncate)).isTrue();
    real.truncation.truncate(real.root(), request("/f", BLOCK));
    assertThat(call(1, true, truncate)).isTrue(); // a new call would find a shorter file
    assertThat(row(file).getLengthBytes()).isEqualTo(BLOCK);
  }

  /** The store shows the row of the call before that of the file. */
  @Test
  void aRepeatedTruncationIsNotDoneBecauseTheFileIsSeenAsItWas() throws IOException {
    LaggingStore lagging = new LaggingStore(new DirectoryHints(System::nanoTime));
    real = new NamespaceFixture(lagging);
    datanodes = new SimulatedDatanodes(real, 4);
    Inode file = written("/f", 1_000);
    InodeRow before = row(file);
    ClientCall.Work<Boolean> truncate =
        () -> real.truncation.truncate(real.root(), request("/f", 400));
    assertThat(call(1, false, truncate)).isFalse();
    InodeNameRow name =
        lagging
            .transact(1, t -> t.get(Tables.INODE_NAME, Tables.inodeName(file.id())))
            .orElseThrow();
    lagging.lag(Tables.INODE, file.key(), before);
    assertThat(call(1, true, truncate)).as("the last block is being cut").isFalse();
    lagging.lag(Tables.INODE, file.key(), null); // it is being renamed
    assertThat(call(1, true, truncate)).isFalse();
    lagging.lag(
        Tables.INODE_NAME,
        Tables.inodeName(file.id()),
        name.toBuilder().setParentId(Inode.PENDING_DELETION_ID).build());
    assertThat(call(1, true, truncate)).isFalse();
  }

  @Test
  void aConcatThatComesTwiceTakesEffectOnce() throws IOException {
    Inode target = fileOf("/a", 2);
    fileOf("/b", 3);
    fileOf("/c", 1);
    ClientCall.Work<Boolean> concat =
        () -> {
          real.concat.concat(real.root(), "/a", List.of("/c", "/b"));
          return true;
        };
    assertThat(call(1, false, concat)).isTrue();
    assertThat(call(1, true, concat)).isTrue();
    assertThat(row(target).getLengthBytes()).isEqualTo(6 * BLOCK);
    assertThat(blocks(target)).hasSize(6);
    assertThatThrownBy(() -> call(2, false, concat)).isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void aConcatOfTooManyBlocksIsRefused() throws IOException {
    Inode target = fileOf("/a", 1);
    fileOf("/b", 600);
    fileOf("/c", 401);
    assertThatThrownBy(() -> real.concat.concat(real.root(), "/a", List.of("/b", "/c")))
        .hasMessageContaining("1001 blocks")
        .hasMessageContaining("several calls");
    real.concat.concat(real.root(), "/a", List.of("/b"));
    real.concat.concat(real.root(), "/a", List.of("/c"));
    assertThat(blocks(target)).hasSize(1_002);
    assertThat(real.tree().keySet()).contains("/a").doesNotContain("/b", "/c");
  }

  @Test
  void aConcatTakesBlocksFromTheirTransition() throws IOException {
    fileOf("/a", 1);
    Inode source = fileOf("/b", 1);
    BlockRow held = blocks(source).get(0).value().toBuilder().setTransitionId(9).build();
    setLast(source, held);
    assertThatThrownBy(() -> real.concat.concat(real.root(), "/a", List.of("/b")))
        .isInstanceOf(RetriableException.class);
    assertThat(real.freed).contains(held.getBlockId());
    assertThat(blocks(source)).hasSize(1);
  }
}
