package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.tree.PendingDeletionReaper;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
          InodeRow row = transaction.get(Tables.INODE, file.key()).orElseThrow();
          transaction.put(Tables.INODE, file.key(), row.toBuilder().setBlocks(count).build());
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
  void aFileWithoutBlocksNeedsNoReaper() throws IOException {
    real.touch("/closed");
    real.creation.create(real.root(), real.request("/open", "writer", false));
    assertThat(real.rows(Tables.LEASE)).isEqualTo(1);
    real.deletions.delete(real.root(), "/closed", false);
    real.deletions.delete(real.root(), "/open", false);
    assertNothingLeft();
    assertThat(real.rows(Tables.LEASE)).isZero();
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

  /**
   * A rename has found its path and has not locked anything yet: the tree above is deleted, and the
   * reaper begins and dies at its first transaction that changes a directory.
   */
  @Test
  void aLateRenameTakesNoDirectoryOfWhichAPartIsRemoved() throws IOException {
    giveBlocks(real.touch("/top/below/file"), 3);
    real.mkdirs("/live");
    PendingDeletionReaper dying =
        new PendingDeletionReaper(
            Hooked.of(
                MetadataStore.class,
                (method, arguments) -> {
                  if (method.getName().equals("transact")) {
                    throw new IOException("the reaper dies");
                  }
                  return method.invoke(real.store, arguments);
                }),
            real.blocks,
            null);
    AtomicBoolean late = new AtomicBoolean();
    RenameService renames =
        new RenameService(
            beforeLocks(
                () -> {
                  if (!late.getAndSet(true)) {
                    real.deletions.delete(real.root(), "/top", true);
                    assertThatThrownBy(dying::reapAll).hasMessage("the reaper dies");
                  }
                  return null;
                }),
            real.clock,
            NamespaceLimits.DEFAULT,
            new TreeCounter(real.store),
            () -> {});
    try {
      renames.rename2(real.root(), "/top/below", "/live/below", false);
      assertThat(real.tree()).containsKey("/live/below/file");
      assertThat(real.rows(Tables.BLOCK)).isEqualTo(3);
    } catch (FileNotFoundException e) {
      assertThat(late).isTrue();
      assertThat(real.status("/live/below")).isNull();
    }
    real.reaper.reapAll();
    assertThat(real.rows(Tables.BLOCK)).isIn(0, 3);
  }

  /** The store, in which something happens before a transaction locks rows. */
  private MetadataStore beforeLocks(Callable<Void> happens) {
    return Hooked.of(
        MetadataStore.class,
        (method, arguments) -> {
          int last = arguments == null ? -1 : arguments.length - 1;
          if (last >= 0 && arguments[last] instanceof MetadataStore.TransactionBody<?> body) {
            MetadataStore.TransactionBody<?> hooked =
                transaction ->
                    body.run(
                        Hooked.of(
                            Transaction.class,
                            (call, parts) -> {
                              if (call.getName().startsWith("lock")) {
                                happens.call();
                              }
                              return call.invoke(transaction, parts);
                            }));
            arguments[last] = hooked;
          }
          return method.invoke(real.store, arguments);
        });
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

  /** From its start, a directory is full of rows that were deleted before. */
  @Test
  void eachPageBeginsBehindTheLastOne() throws IOException {
    for (int i = 0; i < 1_000; i++) {
      real.touch("/f" + i);
      real.deletions.delete(real.root(), "/f" + i, false);
    }
    AtomicInteger fromTheStart = new AtomicInteger();
    new PendingDeletionReaper(counting(fromTheStart), real.blocks, null).reapAll();
    assertNothingLeft();
    assertThat(fromTheStart.get()).isLessThanOrEqualTo(2);
  }

  /** Counts the scans of pending deletions that begin at the first one. */
  private MetadataStore counting(AtomicInteger fromTheStart) {
    return (MetadataStore)
        Proxy.newProxyInstance(
            MetadataStore.class.getClassLoader(),
            new Class<?>[] {MetadataStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("transact") && arguments.length == 3) {
                MetadataStore.TransactionBody<?> body =
                    (MetadataStore.TransactionBody<?>) arguments[2];
                arguments[2] =
                    (MetadataStore.TransactionBody<Object>)
                        transaction -> body.run(counting(transaction, fromTheStart));
              }
              return passOn(real.store, method, arguments);
            });
  }

  private static Transaction counting(Transaction counted, AtomicInteger fromTheStart) {
    return (Transaction)
        Proxy.newProxyInstance(
            Transaction.class.getClassLoader(),
            new Class<?>[] {Transaction.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("scan")
                  && arguments[0] == Tables.INODE
                  && arguments[1].equals(Inode.PENDING_DELETION_ID)
                  && arguments[2] == null) {
                fromTheStart.incrementAndGet();
              }
              return passOn(counted, method, arguments);
            });
  }

  private static Object passOn(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  void deletesAndReplacementsWakeTheThread() throws Exception {
    real.reaper.start();
    giveBlocks(real.touch("/deleted"), 2);
    real.deletions.delete(real.root(), "/deleted", false);
    awaitBlocks(0);
    giveBlocks(real.touch("/moved"), 1);
    giveBlocks(real.touch("/replaced"), 2);
    real.renames.rename2(real.root(), "/moved", "/replaced", true);
    awaitBlocks(1);
    real.touch(real.root(), "/replaced", true);
    awaitBlocks(0);
    real.deletions.delete(real.root(), "/replaced", false);
    real.reaper.close();
    assertNothingLeft();
  }

  private void awaitBlocks(int count) throws IOException {
    long end = System.nanoTime() + 60_000_000_000L;
    while (real.rows(Tables.BLOCK) > count && System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    assertThat(real.rows(Tables.BLOCK)).isEqualTo(count);
  }
}
