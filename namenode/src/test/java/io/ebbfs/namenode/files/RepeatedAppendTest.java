package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileAppendService.Opened;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An append whose answer was lost, and that its client sends to another namenode. */
class RepeatedAppendTest {
  private static final byte[] CLIENT_ID = "sixteen bytes id".getBytes();
  private static final String PATH = "/file";
  private static final String WRITER = "writer";

  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;
  private FileAppendService appends;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(InMemoryStore.shared());
    datanodes = new SimulatedDatanodes(real, 4);
    appends =
        new FileAppendService(real.store, real.blocks, real.clock, real.leases, real.recovery);
  }

  private void write(long length) throws IOException {
    long id = real.creation.create(real.root(), real.request(PATH, WRITER, false)).id();
    Handle handle = new Handle(PATH, id, WRITER, "127.0.0.1");
    if (length == 0) {
      real.writes.complete(handle, null);
      return;
    }
    BlockRow added = real.writes.addBlock(handle, null, Set.of()).block();
    Block written = new Block(added.getBlockId(), length, added.getGenerationStamp());
    datanodes.report(
        written,
        real.reads
            .locate(real.root(), PATH, 0, Long.MAX_VALUE, "127.0.0.1")
            .getLastLocatedBlock()
            .getStorageIDs());
    assertThat(real.writes.complete(handle, written)).isTrue();
  }

  private Opened append(int callId, boolean repeated, boolean newBlock) throws IOException {
    return ClientCall.run(
        ClientCall.of(CLIENT_ID, callId, "ann", repeated).orElseThrow(),
        () ->
            appends.append(
                real.root(), new FileAppendService.Request(PATH, WRITER, "127.0.0.1", newBlock)));
  }

  private void expectTheSameAnswer(boolean newBlock) throws IOException {
    Opened first = append(1, false, newBlock);
    Opened again = append(1, true, newBlock);
    assertThat(again.file().row()).isEqualTo(first.file().row());
    if (first.last() == null) {
      assertThat(again.last()).isNull();
    } else {
      assertThat(again.last().block().getBlockId()).isEqualTo(first.last().block().getBlockId());
      assertThat(again.last().offsetBytes()).isEqualTo(first.last().offsetBytes());
      assertThat(again.last().places()).containsExactlyInAnyOrderElementsOf(first.last().places());
    }
    assertThatThrownBy(() -> append(2, false, newBlock))
        .isInstanceOf(AlreadyBeingCreatedException.class);
  }

  @Test
  void answersForABlockThatIsNotFull() throws IOException {
    write(10);
    expectTheSameAnswer(false);
    assertThat(append(1, true, false).last().block().getState())
        .isEqualTo(BlockStateProto.UNDER_CONSTRUCTION);
  }

  @Test
  void answersForANewBlock() throws IOException {
    write(10);
    expectTheSameAnswer(true);
  }

  @Test
  void answersForAFullBlock() throws IOException {
    write(NamespaceFixture.BLOCK_BYTES);
    expectTheSameAnswer(false);
  }

  @Test
  void answersForAnEmptyFile() throws IOException {
    write(0);
    expectTheSameAnswer(false);
  }

  @Test
  void aFileThatWasClosedSinceIsNotOpenedAgain() throws IOException {
    write(0);
    Opened first = append(1, false, false);
    real.writes.complete(new Handle(PATH, first.file().id(), WRITER, "127.0.0.1"), null);
    assertThatThrownBy(() -> append(1, true, false)).isInstanceOf(LeaseExpiredException.class);
  }
}
