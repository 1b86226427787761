package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.audit.QuotaCheck;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.io.FileWriteService.Handle;
import io.ebbfs.namenode.store.DirectoryHints;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.LaggingStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.NSQuotaExceededException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Quotas on a store that shows one row of a commit earlier than another one. */
class LaggingQuotaTest {
  private static final long KEEP = QuotaServiceTest.KEEP;

  private final AtomicLong nanos = new AtomicLong();
  private final DirectoryHints hints = new DirectoryHints(nanos::get);
  private final LaggingStore store = new LaggingStore(hints);
  private NamespaceFixture real;
  private SimulatedDatanodes datanodes;

  @BeforeEach
  void start() throws IOException {
    real = new NamespaceFixture(store);
    datanodes = new SimulatedDatanodes(real, 4);
    real.mkdirs("/q");
    real.mkdirs("/other");
  }

  private void requireExactSums() throws IOException {
    store.catchUp();
    assertThat(QuotaCheck.run(store)).isEmpty();
  }

  private Handle open(String path) throws IOException {
    Inode file = real.creation.create(real.root(), real.request(path, "client", false));
    return new Handle(path, file.id(), "client", "127.0.0.1");
  }

  private Key blockOf(Handle file, int index) {
    return Tables.block(file.fileId(), index);
  }

  /** Another namenode adds a block, and of its commit only the row of the file can be read. */
  private void withUnseenBlock(String path) throws IOException {
    Handle file = open(path);
    real.writes.addBlock(file, null, Set.of());
    store.lag(Tables.BLOCK, blockOf(file, 0), null);
  }

  /** Another namenode ends a short block and adds one, whose row cannot be read yet. */
  private void withUnseenSecondBlock(String path) throws IOException {
    Handle file = open(path);
    BlockRow block = real.writes.addBlock(file, null, Set.of()).block();
    Block written = new Block(block.getBlockId(), 100, block.getGenerationStamp());
    datanodes.reportAnywhere(written);
    real.writes.addBlock(file, written, Set.of());
    store.lag(Tables.BLOCK, blockOf(file, 1), null);
  }

  @Test
  void aWalkCountsAnOpenFileAsOneCommitHasLeftIt() throws IOException {
    withUnseenBlock("/q/open");
    withUnseenSecondBlock("/q/longer");
    real.quotas.set(real.root(), "/q", 100, KEEP, null);
    assertThat(store.conflicts()).isPositive();
    requireExactSums();
  }

  @Test
  void aFileThatMovesCountsAsOneCommitHasLeftIt() throws IOException {
    real.quotas.set(real.root(), "/q", 100, KEEP, null);
    withUnseenBlock("/other/open");
    real.renames.rename2(real.root(), "/other/open", "/q/open", false);
    requireExactSums();
    withUnseenSecondBlock("/other/longer");
    assertThat(real.renames.rename(real.root(), "/other/longer", "/q")).isTrue();
    requireExactSums();
  }

  @Test
  void aCallThatAQuotaRefusesLeavesNoTimeToBeWritten() throws IOException {
    real.quotas.set(real.root(), "/q", 2, KEEP, null);
    long id = real.status("/q").getFileId();
    real.clock.advance(10);
    real.touch("/q/last"); // writes the time
    assertThat(hints.times().isMerged(id)).isTrue();
    real.clock.advance(10);
    assertThatThrownBy(() -> real.mkdirs("/q/more")).isInstanceOf(NSQuotaExceededException.class);
    assertThat(hints.times().all()).doesNotContainKey(id);
  }

  @Test
  void aChangeThatIsRefusedDoesNotCountAsOneThatHasWrittenTheTime() throws IOException {
    long id = real.status("/q").getFileId();
    nanos.addAndGet(10_000_000_000L);
    assertThat(hints.times().isMerged(id)).isFalse();
    store.refuseNext();
    assertThatThrownBy(() -> real.touch("/q/refused")).hasMessageContaining("refuses this commit");
    assertThat(hints.times().isMerged(id)).isFalse();
    real.touch("/q/made");
    assertThat(hints.times().isMerged(id)).isTrue();
  }

  @Test
  void aChangeThatIsRefusedDropsNoTimeThatIsYetToBeWritten() throws IOException {
    real.touch("/q/one");
    real.clock.advance(10);
    real.touch("/q/two"); // leaves its time to be written
    long id = real.status("/q").getFileId();
    nanos.addAndGet(10_000_000_000L);
    store.refuseNext();
    assertThatThrownBy(() -> real.touch("/q/refused")).hasMessageContaining("refuses this commit");
    assertThat(hints.times().due()).containsKey(id);
  }
}
