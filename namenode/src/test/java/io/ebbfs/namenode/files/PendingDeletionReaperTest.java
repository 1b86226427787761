package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A deleted tree is gone for clients at once, and the reaper removes its rows later. */
class PendingDeletionReaperTest {
  private NamespaceFixture real;

  @BeforeEach
  void makeNamespace() throws IOException {
    real = new NamespaceFixture();
  }

  /** Writes rows of blocks as a client does, without any chunk server. */
  private void giveBlocks(Inode file, int count) throws IOException {
    real.store.transact(
        file.id(),
        transaction -> {
          for (int i = 0; i < count; i++) {
            long blockId = file.id() * 100_000 + i;
            transaction.put(
                Tables.BLOCK,
                Tables.block(file.id(), i),
                BlockRow.newBuilder()
                    .setBlockId(blockId)
                    .setGenerationStamp(1)
                    .setLengthBytes(1)
                    .setState(BlockStateProto.COMPLETE)
                    .setReplication(3)
                    .build());
            transaction.put(
                Tables.BLOCK_OWNER,
                Tables.blockOwner(blockId),
                BlockOwnerRow.newBuilder().setOwnerId(file.id()).setIndex(i).build());
          }
          return null;
        });
  }

  private void assertNothingLeft() throws IOException {
    assertThat(real.rows(Tables.INODE)).isEqualTo(1);
    assertThat(real.rows(Tables.INODE_NAME)).isEqualTo(1);
    assertThat(real.rows(Tables.BLOCK)).isZero();
    assertThat(real.rows(Tables.BLOCK_OWNER)).isZero();
  }

  @Test
  void aFileWithMoreBlocksThanATransactionTakes() throws IOException {
    giveBlocks(real.touch("/large"), 1_700);
    giveBlocks(real.touch("/small"), 3);
    real.deletions.delete(real.root(), "/large", false);
    real.deletions.delete(real.root(), "/small", false);
    assertThat(real.status("/large")).isNull();
    assertThat(real.rows(Tables.BLOCK)).isEqualTo(1_703);
    real.reaper.reapAll();
    assertNothingLeft();
  }

  @Test
  void aWideAndDeepTree() throws IOException {
    for (int i = 0; i < 200; i++) {
      real.touch("/top/wide/f" + i);
      real.mkdirs("/top/wide/d" + i);
    }
    real.mkdirs("/top" + "/deep".repeat(200));
    real.deletions.delete(real.root(), "/top", true);
    assertThat(real.tree()).isEmpty();
    real.reaper.reapAll();
    assertNothingLeft();
  }

  @Test
  void aReplacedFileGoesToo() throws IOException {
    giveBlocks(real.touch("/f"), 2);
    real.touch(real.root(), "/f", true);
    giveBlocks(real.touch("/g"), 2);
    real.renames.rename2(real.root(), "/f", "/g", true);
    real.reaper.reapAll();
    assertThat(real.tree()).containsOnlyKeys("/g");
    assertThat(real.rows(Tables.BLOCK)).isZero();
  }

  @Test
  void theThreadReapsWhatItIsWokenFor() throws Exception {
    real.touch("/f");
    real.reaper.start();
    real.deletions.delete(real.root(), "/f", false);
    real.reaper.wake();
    long end = System.nanoTime() + 60_000_000_000L;
    while (real.rows(Tables.INODE) > 1 && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    real.reaper.close();
    assertNothingLeft();
  }
}
