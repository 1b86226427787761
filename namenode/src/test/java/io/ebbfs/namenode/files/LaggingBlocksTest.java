package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.LaggingStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Truncations, concats and recoveries on a store that shows the row of a file after a commit of
 * another namenode, and the row of its block before that commit.
 */
class LaggingBlocksTest {
  private final LaggingStore store = new LaggingStore(new DirectoryHints());
  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(store);
    datanodes = new SimulatedDatanodes(real, 4);
  }

  private Handle open(String path) throws IOException {
    Inode file = real.creation.create(real.root(), real.request(path, "client", false));
    return new Handle(path, file.id(), "client", "127.0.0.1");
  }

  private Block add(Handle file, Block previous, long length) throws IOException {
    BlockRow added = real.writes.addBlock(file, previous, Set.of()).block();
    Block block = new Block(added.getBlockId(), length, added.getGenerationStamp());
    datanodes.report(block, added.getPipelineStorageUuidsList().toArray(String[]::new));
    return block;
  }

  /** A closed file with blocks of 100 bytes. */
  private Handle closed(String path, int blocks) throws IOException {
    Handle file = open(path);
    Block last = null;
    for (int i = 0; i < blocks; i++) {
      last = add(file, last, 100);
    }
    assertThat(real.writes.complete(file, last)).isTrue();
    return file;
  }

  private BlockRow block(Handle file, int index) throws IOException {
    return rows(file).get(index).value();
  }

  private List<Row<BlockRow>> rows(Handle file) throws IOException {
    return store.transact(file.fileId(), t -> t.scan(Tables.BLOCK, file.fileId()));
  }

  private void lag(Handle file, int index, BlockRow before) {
    store.lag(Tables.BLOCK, Tables.block(file.fileId(), index), before);
  }

  private static BlockRow unfinished(BlockRow row) {
    return row.toBuilder()
        .setState(BlockStateProto.UNDER_CONSTRUCTION)
        .setLengthBytes(0)
        .addPipelineStorageUuids("disk-0")
        .build();
  }

  private boolean truncate(String path, long length) throws IOException {
    return real.truncation.truncate(
        real.root(), new TruncateService.Request(path, length, "client", "127.0.0.1"));
  }

  @Test
  void aTruncationDoesNotRemoveABlockOfWhichItHasSeenAnOldRow() throws IOException {
    Handle file = closed("/f", 1);
    lag(file, 0, unfinished(block(file, 0)));
    assertThat(truncate("/f", 50)).isFalse();
    store.catchUp();
    assertThat(block(file, 0).getState()).isEqualTo(BlockStateProto.RECOVERING);
    assertThat(block(file, 0).getRecoveryLengthBytes()).isEqualTo(50);
    assertThat(block(file, 0).getLengthBytes()).isEqualTo(100);
  }

  /** A client that takes a block group for a block, or the other way round, reads wrong bytes. */
  @Test
  void aReaderSeesNoGroupAmongTheReplicasThatHaveTakenItsPlace() throws IOException {
    Handle file = closed("/f", 2);
    BlockRow group = block(file, 1).toBuilder().setEcPolicyId(1).setInternalOwnerId(999).build();
    store.lagInScan(Tables.BLOCK, Tables.block(file.fileId(), 1), group);
    LocatedBlocks seen = real.reads.locate(real.root(), "/f", 0, Long.MAX_VALUE, "127.0.0.1");
    assertThat(seen.getFileLength()).isEqualTo(200);
    assertThat(seen.getLocatedBlocks()).noneMatch(LocatedBlock::isStriped);
  }

  @Test
  void aTruncationRemovesTheBlocksThatAreBeyond() throws IOException {
    Handle file = closed("/f", 3);
    lag(file, 2, block(file, 2).toBuilder().setLengthBytes(10).build());
    assertThat(truncate("/f", 100)).isTrue();
    store.catchUp();
    assertThat(store.conflicts()).isPositive();
    assertThat(rows(file)).hasSize(1);
    assertThat(real.status("/f").getLen()).isEqualTo(100);
  }

  @Test
  void aTruncationCutsTheLastBlockToItsRealLength() throws IOException {
    Handle file = closed("/f", 2);
    lag(file, 1, block(file, 1).toBuilder().setLengthBytes(90).build());
    assertThat(truncate("/f", 150)).isFalse();
    store.catchUp();
    assertThat(block(file, 1).getRecoveryLengthBytes()).isEqualTo(50);
  }

  @Test
  void aConcatMovesNoOldRow() throws IOException {
    Handle target = closed("/a", 1);
    Handle source = closed("/b", 2);
    lag(source, 1, unfinished(block(source, 1)));
    real.concat.concat(real.root(), "/a", List.of("/b"));
    Handle another = closed("/c", 1);
    lag(another, 0, block(another, 0).toBuilder().setState(BlockStateProto.COMMITTED).build());
    real.concat.concat(real.root(), "/a", List.of("/c"));
    store.catchUp();
    assertThat(store.conflicts()).isEqualTo(2);
    assertThat(rows(target)).hasSize(4);
    for (Row<BlockRow> row : rows(target)) {
      assertThat(row.value().getState()).isEqualTo(BlockStateProto.COMPLETE);
      assertThat(row.value().getLengthBytes()).isEqualTo(100);
    }
  }

  @Test
  void aRecoveryDropsNoBlockThatHasBytes() throws IOException {
    Handle file = open("/f");
    add(file, null, 100);
    BlockRow before = block(file, 0).toBuilder().clearPipelineStorageUuids().build();
    real.writes.fsync(file, 60);
    lag(file, 0, before);
    assertThat(real.recovery.release(file.fileId(), "client")).isFalse();
    store.catchUp();
    assertThat(block(file, 0).getState()).isEqualTo(BlockStateProto.RECOVERING);
    assertThat(block(file, 0).getLengthBytes()).isEqualTo(60);
  }

  @Test
  void aBlockThatIsFinishedIsNotAbandoned() throws IOException {
    Handle file = open("/f");
    Block first = add(file, null, 100);
    BlockRow before = block(file, 0);
    BlockRow finished = before.toBuilder().setState(BlockStateProto.COMMITTED).build();
    store.transact(
        file.fileId(),
        t -> {
          t.put(Tables.BLOCK, Tables.block(file.fileId(), 0), finished);
          return null;
        });
    lag(file, 0, before);
    real.writes.abandonBlock(file, first);
    store.catchUp();
    assertThat(rows(file)).hasSize(1);
  }

  @Test
  void aReplicationIsSetInTheRowsThatWereCommitted() throws IOException {
    Handle file = closed("/f", 2);
    lag(file, 1, unfinished(block(file, 1)));
    assertThat(real.replication.set(real.root(), "/f", 2)).isTrue();
    store.catchUp();
    assertThat(block(file, 1).getState()).isEqualTo(BlockStateProto.COMPLETE);
    assertThat(block(file, 1).getLengthBytes()).isEqualTo(100);
    assertThat(block(file, 1).getReplication()).isEqualTo(2);
  }

  @Test
  void aDeletionRemovesTheNewestBlockToo() throws IOException {
    Handle file = closed("/f", 2);
    BlockRow newest = block(file, 1);
    real.deletions.delete(real.root(), "/f", false);
    lag(file, 1, null);
    real.reaper.reapAll();
    store.catchUp();
    assertThat(rows(file)).isEmpty();
    assertThat(
            store.<Boolean>transact(
                0,
                t -> t.get(Tables.BLOCK_OWNER, Tables.blockOwner(newest.getBlockId())).isPresent()))
        .isFalse();
  }
}
