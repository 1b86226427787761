package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.Block;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What full reports note about replicas that agree with all rows, and when the notes go. */
class VerifiedReplicasTest {
  private BlockFixture f;
  private BlockRow block;
  private String storage;

  @BeforeEach
  void aFileThatFullReportsHaveNamed() throws IOException {
    f = new BlockFixture(3, 5, 2);
    f.registerAll();
    f.second();
    block = f.writeFile(3);
    f.seconds(10);
    reportAll();
    storage = f.physical(block.getBlockId()).iterator().next();
  }

  private void reportAll() throws IOException {
    f.servers.values().forEach(SimulatedServer::reportAll);
    f.deliverAll();
  }

  private boolean isVerified(String disk) throws IOException {
    return f.note(disk, block.getBlockId()).hasVerifiedGenerationStamp();
  }

  private void change(Change change) throws IOException {
    f.store.transact(
        f.ownerOf(block.getBlockId()),
        t -> {
          change.in(t);
          return null;
        });
  }

  private interface Change {
    void in(Transaction transaction) throws IOException;
  }

  /** Writes the row of a replica as a version does that knows no notes. */
  private void putRow(String disk, ReplicaStateProto state) throws IOException {
    ReplicaRow row = ReplicaRows.row(state, block.getGenerationStamp(), block.getLengthBytes());
    change(
        t ->
            t.put(
                Tables.REPLICA,
                Tables.replica(f.ownerOf(block.getBlockId()), block.getBlockId(), disk),
                row));
  }

  private ReplicaStateProto state(String disk) throws IOException {
    return f.rows(block.getBlockId()).stream()
        .filter(replica -> replica.storageUuid().equals(disk))
        .findFirst()
        .orElseThrow()
        .row()
        .getState();
  }

  @Test
  void aReplicaThatAgreesIsNotedWithItsGenerationAndLength() throws IOException {
    assertThat(f.physical(block.getBlockId())).hasSize(3);
    for (String disk : f.physical(block.getBlockId())) {
      assertThat(f.note(disk, block.getBlockId()))
          .isEqualTo(
              StorageReplicaRow.newBuilder()
                  .setVerifiedGenerationStamp(block.getGenerationStamp())
                  .setVerifiedLengthBytes(block.getLengthBytes())
                  .build());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UNDER_CONSTRUCTION", "RECOVERING", "COMMITTED"})
  void aReplicaOfABlockThatIsNotCompleteIsNotNoted(BlockStateProto state) throws IOException {
    BlockRow open = f.writeFile(3);
    change(
        t ->
            t.put(
                Tables.BLOCK,
                Tables.block(f.ownerOf(open.getBlockId()), 0),
                open.toBuilder().setState(state).build()));
    f.deliverAll();
    f.clock.advance(6_000); // the reports do not travel any more
    reportAll();
    assertThat(f.rows(open.getBlockId())).hasSize(3);
    for (String disk : f.physical(open.getBlockId())) {
      assertThat(f.note(disk, open.getBlockId()).hasVerifiedGenerationStamp()).isFalse();
    }
  }

  @Test
  void anotherLengthIsFoundThoughTheReplicaWasVerified() throws IOException {
    f.holder(storage)
        .writeQuietly(storage, new Block(block.getBlockId(), 100, block.getGenerationStamp()));
    reportAll();
    assertThat(state(storage)).isEqualTo(ReplicaStateProto.CORRUPT);
    assertThat(isVerified(storage)).isFalse();
  }

  @Test
  void aLostReplicaIsFoundThoughItWasVerified() throws IOException {
    f.holder(storage).disks.get(storage).remove(block.getBlockId());
    reportAll();
    assertThat(f.rows(block.getBlockId())).hasSize(2);
    f.seconds(10);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
  }

  @Test
  void aBadReplicaIsNotVerifiedAnyMore() throws IOException {
    f.manager.reportBad(block.getBlockId(), block.getGenerationStamp(), storage, "test");
    assertThat(isVerified(storage)).isFalse();
    reportAll();
    assertThat(isVerified(storage)).isFalse();
  }

  @Test
  void anExcessReplicaIsNotVerifiedAnyMore() throws IOException {
    Set<String> before = new TreeSet<>(f.physical(block.getBlockId()));
    f.setReplication(block.getBlockId(), 2);
    int excess = 0;
    for (String disk : before) {
      excess += state(disk) == ReplicaStateProto.EXCESS ? 1 : 0;
      assertThat(isVerified(disk)).isEqualTo(state(disk) == ReplicaStateProto.FINALIZED);
    }
    assertThat(excess).isEqualTo(1);
  }

  /**
   * A server is away while its block grows: its replica is stale, and goes when the server reports.
   */
  @Test
  void aStaleReplicaIsFoundAfterAnAppend() throws IOException {
    SimulatedServer away = f.holder(storage);
    away.kill();
    f.append(block.getBlockId());
    f.deliverAll();
    f.manager.tick();
    assertThat(isVerified(storage)).isFalse();
    away.up = true;
    away.register(f.frontEnd);
    f.deliverAll();
    assertThat(state(storage)).isEqualTo(ReplicaStateProto.CORRUPT);
  }

  /**
   * An older version on the same store changes rows and leaves the notes. A report reads the note
   * alone, and does not see what contradicts the note, until the part of the ids is due.
   */
  @Test
  void aWrongNoteIsFoundByOneOfSoManyReports() throws IOException {
    putRow(storage, ReplicaStateProto.CORRUPT);
    int reports = 0;
    while (isVerified(storage)) {
      reportAll();
      reports++;
      assertThat(reports).isLessThanOrEqualTo(ReplicaComparison.PARTS);
    }
    f.seconds(20);
    assertThat(f.physical(block.getBlockId())).hasSize(3).doesNotContain(storage);
  }

  /** Over many disks, the one report that finds a wrong note is rarely the first. */
  @Test
  void aVerifiedReplicaIsComparedWithItsNoteAlone() throws IOException {
    int stillVerified = 0;
    for (int i = 0; i < 20; i++) {
      BlockRow other = f.writeFile(1);
      f.deliverAll();
      f.clock.advance(6_000);
      reportAll();
      reportAll();
      String disk = f.physical(other.getBlockId()).iterator().next();
      assertThat(f.note(disk, other.getBlockId()).hasVerifiedGenerationStamp()).isTrue();
      block = other;
      putRow(disk, ReplicaStateProto.CORRUPT);
      reportAll();
      stillVerified += isVerified(disk) ? 1 : 0;
    }
    assertThat(stillVerified).isGreaterThan(10); // 19.3 in the mean
  }

  /** Safe mode waits for the reports of all servers. */
  @Test
  void nothingIsNotedInSafeMode() throws IOException {
    BlockRow other = f.writeFile(3);
    f.deliverAll();
    f.clock.advance(6_000);
    f.cluster.setSafeMode(true);
    reportAll();
    for (String disk : f.physical(other.getBlockId())) {
      assertThat(f.note(disk, other.getBlockId()).hasVerifiedGenerationStamp()).isFalse();
    }
  }
}
