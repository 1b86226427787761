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

/** What full reports note about replicas that agree with all rows, and when the notes go. */
class VerifiedReplicasTest {
  private static final long MINUTE_MILLIS = 60_000;

  /** Each report compares one of so many parts of the block ids with all rows. */
  private static final int PARTS = 61;

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
    f.clock.advance(MINUTE_MILLIS / 2 - f.clock.millis() % MINUTE_MILLIS);
    awayFromThePartOfTheBlock();
    reportAll();
    storage = f.physical(block.getBlockId()).iterator().next();
  }

  private void reportAll() throws IOException {
    f.servers.values().forEach(SimulatedServer::reportAll);
    f.deliverAll();
  }

  private boolean isThePartOfTheBlock() {
    return (block.getBlockId() >>> 20) % PARTS == f.clock.millis() / MINUTE_MILLIS % PARTS;
  }

  private void awayFromThePartOfTheBlock() throws IOException {
    while (isThePartOfTheBlock()) {
      f.clock.advance(1_000);
      f.second();
    }
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

  @Test
  void aReplicaOfABlockThatIsNotCompleteIsNotNoted() throws IOException {
    BlockRow open = f.writeFile(3);
    change(
        t ->
            t.put(
                Tables.BLOCK,
                Tables.block(f.ownerOf(open.getBlockId()), 0),
                open.toBuilder().setState(BlockStateProto.UNDER_CONSTRUCTION).build()));
    f.deliverAll();
    f.clock.advance(MINUTE_MILLIS / 10);
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
    for (String disk : before) {
      assertThat(isVerified(disk)).isEqualTo(state(disk) == ReplicaStateProto.FINALIZED);
    }
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

  /** The note is all that a report reads, so a report does not see what contradicts the note. */
  @Test
  void aVerifiedReplicaIsComparedWithItsNoteAlone() throws IOException {
    putRow(storage, ReplicaStateProto.CORRUPT);
    reportAll();
    assertThat(isVerified(storage)).isTrue();
    assertThat(state(storage)).isEqualTo(ReplicaStateProto.CORRUPT);
  }

  /** An older version on the same store changes rows and leaves the notes. */
  @Test
  void aWrongNoteIsFoundWhenItsPartOfTheIdsIsDue() throws IOException {
    putRow(storage, ReplicaStateProto.CORRUPT);
    while (!isThePartOfTheBlock()) {
      assertThat(isVerified(storage)).isTrue();
      f.clock.advance(10_000);
      f.servers.values().forEach(this::beat);
    }
    reportAll();
    assertThat(isVerified(storage)).isFalse();
    f.seconds(20);
    assertThat(f.physical(block.getBlockId())).hasSize(3).doesNotContain(storage);
  }

  /** A heartbeat without the periodic work of the namenode, which finds the row too. */
  private void beat(SimulatedServer server) {
    try {
      server.heartbeat(f.frontEnd);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
