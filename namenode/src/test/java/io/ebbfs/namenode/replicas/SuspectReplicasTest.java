package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.replicas.ReplicaVerifier.Health;
import io.ebbfs.namenode.rpc.client.ClientFrontEnd;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A replica is corrupt by the word of its own server, and by nobody else's. */
class SuspectReplicasTest {
  private BlockFixture f;
  private Health answer = Health.UNKNOWN;
  private final List<String> asked = new ArrayList<>();

  @BeforeEach
  void start() throws IOException {
    f = new BlockFixture(11, 6, 2);
    f.verifier =
        (server, block) -> {
          asked.add(server.uuid());
          return answer;
        };
    f.registerAll();
    f.second();
  }

  private BlockRow file(int replication) throws IOException {
    BlockRow block = f.writeFile(replication);
    f.seconds(3);
    return block;
  }

  private String diskOf(BlockRow block) {
    return f.physical(block.getBlockId()).iterator().next();
  }

  /** A stock client names the server of a replica, and mostly not its disk. */
  private void reportByClient(BlockRow block, String disk) throws IOException {
    DatanodeInfoWithStorage holder =
        new DatanodeInfoWithStorage(
            BlockLocator.info(f.cluster.server(f.holder(disk).uuid).orElseThrow()), "", null);
    ExtendedBlock extended =
        new ExtendedBlock(
            f.identity.blockPoolId(),
            block.getBlockId(),
            block.getLengthBytes(),
            block.getGenerationStamp());
    new ClientFrontEnd(null, f.manager, null, f.cluster, null, null, null)
        .reportBadBlocks(
            new LocatedBlock[] {
              new LocatedBlock(extended, new DatanodeInfoWithStorage[] {holder})
            });
  }

  private ReplicaStateProto state(BlockRow block, String disk) throws IOException {
    return f.rows(block.getBlockId()).stream()
        .filter(row -> row.storageUuid().equals(disk))
        .map(row -> row.row().getState())
        .findFirst()
        .orElseThrow();
  }

  private void inspect() throws IOException {
    f.manager.inspectSuspects();
  }

  /** A client with bad memory finds every replica corrupt. */
  @Test
  void theWordOfAClientMarksNoReplica() throws IOException {
    BlockRow block = file(3);
    answer = Health.GOOD;
    for (String disk : f.physical(block.getBlockId())) {
      reportByClient(block, disk);
    }
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    inspect();
    assertThat(asked).hasSize(3);
    f.seconds(5);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(3);
    assertThat(f.physical(block.getBlockId())).hasSize(3);
  }

  @Test
  void aReplicaIsMarkedWhenItsServerHasReadItAndFoundItBad() throws IOException {
    BlockRow block = file(2);
    String disk = diskOf(block);
    answer = Health.BAD;
    reportByClient(block, disk);
    inspect();
    assertThat(asked).containsExactly(f.holder(disk).uuid);
    assertThat(state(block, disk)).isEqualTo(ReplicaStateProto.CORRUPT);
    f.seconds(10);
    assertThat(f.physical(block.getBlockId())).hasSize(2).doesNotContain(disk);
  }

  @Test
  void aServerThatCannotTellIsAskedAgainAndItsReplicaIsNotMarked() throws IOException {
    BlockRow block = file(2);
    String disk = diskOf(block);
    reportByClient(block, disk);
    inspect();
    assertThat(state(block, disk)).isEqualTo(ReplicaStateProto.FINALIZED);
    answer = Health.BAD;
    f.seconds(6);
    inspect();
    assertThat(asked).hasSize(2);
    assertThat(state(block, disk)).isEqualTo(ReplicaStateProto.CORRUPT);
  }

  @Test
  void aServerThatNeverAnswersIsAskedALimitedNumberOfTimes() throws IOException {
    BlockRow block = file(2);
    reportByClient(block, diskOf(block));
    for (int i = 0; i < 30; i++) {
      f.seconds(3);
      inspect();
    }
    assertThat(asked).hasSize(5);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(2);
  }

  /** A server that has not sent its full report may not have scanned its disks yet. */
  @Test
  void aReplicaIsMissingOnlyByTheWordOfAServerThatHasReportedItsDisk() throws IOException {
    BlockRow block = file(2);
    String disk = diskOf(block);
    answer = Health.MISSING;
    f.frontEnd.registerDatanode(f.holder(disk).registration());
    reportByClient(block, disk);
    inspect();
    assertThat(asked).hasSize(1);
    assertThat(state(block, disk)).isEqualTo(ReplicaStateProto.FINALIZED);
    f.holder(disk).reportAll();
    f.seconds(6);
    inspect();
    assertThat(state(block, disk)).isEqualTo(ReplicaStateProto.CORRUPT);
  }

  /** The only replica: without a second one, nothing is deleted. */
  @Test
  void aFullReportHasAMarkedReplicaReadAgainAndAGoodOneIsTrustedAgain() throws IOException {
    BlockRow block = file(1);
    String disk = diskOf(block);
    f.manager.reportBad(block.getBlockId(), 1001, disk, "its server found it missing");
    assertThat(f.liveReplicas(block.getBlockId())).isZero();
    answer = Health.GOOD;
    f.clock.advance(60_000);
    f.holder(disk).reportAll();
    f.registerAll();
    inspect();
    assertThat(asked).contains(f.holder(disk).uuid);
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(1);
    assertThat(f.rows(block.getBlockId()))
        .extracting(Replica::row)
        .noneMatch(row -> row.getFoundBad());
  }

  /** No report comes: the namenode asks by itself, because the block has nothing else. */
  @Test
  void theOnlyReplicaIsReadAgainWithoutAReport() throws IOException {
    BlockRow block = file(1);
    f.manager.reportBad(block.getBlockId(), 1001, diskOf(block), "checksum");
    answer = Health.GOOD;
    f.seconds(10);
    inspect();
    assertThat(f.liveReplicas(block.getBlockId())).isEqualTo(1);
  }

  /** What a parity scrub finds fits its checksums: reading the replica again proves nothing. */
  @Test
  void aReplicaWithWrongBytesIsNeverTrustedAgain() throws IOException {
    BlockRow block = file(1);
    String disk = diskOf(block);
    f.manager.reportWrongBytes(block.getBlockId(), 1001, disk, "not what the data makes it");
    answer = Health.GOOD;
    f.manager.suspect(block.getBlockId(), 1001, disk, "test");
    f.holder(disk).reportAll();
    f.seconds(10);
    inspect();
    assertThat(asked).isEmpty();
    assertThat(state(block, disk)).isEqualTo(ReplicaStateProto.CORRUPT);
  }

  /** No stripe decodes here: the marked replica is all that there is. */
  @Test
  void aMarkedMemberOfAStripeIsOfferedBehindTheProxies() throws IOException {
    BlockRow block = file(1);
    assertThat(f.encode(block.getBlockId())).isTrue();
    f.seconds(3);
    String disk = diskOf(block);
    f.manager.reportBad(block.getBlockId(), 1001, disk, "checksum");
    long owner = f.ownerOf(block.getBlockId());
    LocatedBlock located =
        f.store.transact(
            owner,
            t -> f.manager.locate(t, owner, f.blocks.get(block.getBlockId()), 0, "127.0.0.1"));
    DatanodeInfoWithStorage[] places = located.getLocations();
    assertThat(places[places.length - 1].getStorageID()).isEqualTo(disk);
    assertThat(places).hasSizeGreaterThan(1);
    f.seconds(20);
    assertThat(f.physical(block.getBlockId())).as("the only replica stays").containsExactly(disk);
  }

  @Test
  void aReplicaThatWasJustReadIsNotReadAgainForEveryClient() throws IOException {
    BlockRow block = file(2);
    String disk = diskOf(block);
    answer = Health.GOOD;
    for (int i = 0; i < 100; i++) {
      reportByClient(block, disk);
      inspect();
    }
    assertThat(asked).hasSize(1);
  }
}
