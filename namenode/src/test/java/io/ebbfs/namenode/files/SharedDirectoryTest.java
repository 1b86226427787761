package io.ebbfs.namenode.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.namenode.files.tree.AttributeService;
import io.ebbfs.namenode.files.tree.DirectoryTimeWriter;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Changes of the entries of one directory, in a store that several namenodes share. */
class SharedDirectoryTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong nanos = new AtomicLong(1_000_000);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final InMemoryStore store = InMemoryStore.shared(nanos::get);
  private NamespaceFixture real;
  private DirectoryTimeWriter writer;

  @BeforeEach
  void makeDirectory() throws IOException {
    real = new NamespaceFixture(store);
    writer = DirectoryTimeWriter.on(real.store, Duration.ZERO);
    real.mkdirs("/d");
    real.touch("/d/first");
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  /** A store that fails so many calls at first. */
  private MetadataStore reluctant(int failures) {
    AtomicInteger left = new AtomicInteger(failures);
    return (MetadataStore)
        Proxy.newProxyInstance(
            MetadataStore.class.getClassLoader(),
            new Class<?>[] {MetadataStore.class},
            (proxy, method, arguments) -> {
              if (left.getAndDecrement() > 0) {
                throw new IOException("this namenode joins the store again");
              }
              return method.invoke(store, arguments);
            });
  }

  @Test
  void aStartWaitsForAStoreThatLeavesItOutForAWhile() throws Exception {
    assertThat(DirectoryTimeWriter.on(reluctant(2), Duration.ofMinutes(1))).isNotNull();
    assertThatThrownBy(() -> DirectoryTimeWriter.on(reluctant(2), Duration.ZERO))
        .hasMessageContaining("joins the store again");
  }

  private Key key() throws IOException {
    return real.inodes.get(real.root(), "/d").key();
  }

  private InodeRow row() throws IOException {
    return real.store.transact(0, t -> t.get(Tables.INODE, key()).orElseThrow());
  }

  /** Another change of the directory's entries holds it, as creates and deletes do. */
  private Future<?> hold(CountDownLatch end) throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    Key directory = key();
    Future<?> holder =
        threads.submit(
            () ->
                real.store.transact(
                    0,
                    transaction -> {
                      transaction.lock(List.of(RowLock.shared(Tables.INODE, directory)));
                      held.countDown();
                      awaitQuietly(end);
                      return null;
                    }));
    held.await();
    return holder;
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void changesOfEntriesDoNotWaitForEachOther() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Future<?> other = hold(end);
    Future<?> changes =
        threads.submit(
            () -> {
              real.touch("/d/a");
              real.mkdirs("/d/below/below");
              real.renames.rename2(real.root(), "/d/a", "/d/b", false);
              real.touch(real.root(), "/d/b", true);
              return real.deletions.delete(real.root(), "/d/b", false);
            });
    assertThat(changes.get(60, TimeUnit.SECONDS)).isEqualTo(true);
    end.countDown();
    other.get(60, TimeUnit.SECONDS);
    assertThat(real.tree()).containsKeys("/d/first", "/d/below/below/").doesNotContainKey("/d/b");
  }

  @Test
  void theDirectoryIsNotRemovedOrMovedMeanwhile() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Future<?> other = hold(end);
    real.mkdirs("/e");
    Future<?> move =
        threads.submit(
            () -> {
              real.renames.rename2(real.root(), "/d", "/e/d", false);
              return real.deletions.delete(real.root(), "/e/d", true);
            });
    assertThatThrownBy(() -> move.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    end.countDown();
    other.get(60, TimeUnit.SECONDS);
    assertThat(move.get(60, TimeUnit.SECONDS)).isEqualTo(true);
  }

  @Test
  void theTimeIsWrittenAtMostOncePerSecondAndInTheEndItIsThatOfTheLastChange() throws IOException {
    long first = row().getModifiedMillis();
    real.clock.advance(10);
    real.touch("/d/a");
    real.clock.advance(10);
    long last = real.clock.millis();
    real.touch("/d/b");
    writer.tick(() -> true);
    assertThat(row().getModifiedMillis()).isEqualTo(first);
    nanos.addAndGet(SECOND);
    writer.tick(() -> true);
    assertThat(row().getModifiedMillis()).isEqualTo(last);

    real.clock.advance(10);
    real.touch("/d/c"); // within a second after the last write
    assertThat(row().getModifiedMillis()).isEqualTo(last);
    writer.writeAll(() -> true);
    assertThat(row().getModifiedMillis()).isEqualTo(real.clock.millis());

    nanos.addAndGet(SECOND);
    writer.tick(() -> true);
    real.clock.advance(10);
    real.touch("/d/e"); // nothing was written for a second: with the change
    assertThat(row().getModifiedMillis()).isEqualTo(real.clock.millis());
  }

  @Test
  void aTimeThatAClientSetsStays() throws IOException {
    long before = row().getModifiedMillis();
    real.clock.advance(10);
    real.touch("/d/a");
    real.attributes.setTimes(real.root(), "/d", before, -1);
    nanos.addAndGet(SECOND);
    writer.tick(() -> true);
    writer.writeAll(() -> true);
    assertThat(row().getModifiedMillis()).isEqualTo(before);
  }

  @Test
  void aTimeThatAClientSetsThroughAnotherNamenodeStays() throws IOException {
    AttributeService another = new AttributeService(store.besides(nanos::get));
    long before = row().getModifiedMillis();
    real.clock.advance(10);
    real.touch("/d/a");
    another.setTimes(real.root(), "/d", before, -1);
    nanos.addAndGet(SECOND);
    writer.tick(() -> true);
    assertThat(row().getModifiedMillis()).isEqualTo(before);

    real.touch("/d/b"); // within a second after the last look
    real.clock.advance(10);
    long last = real.clock.millis();
    another.setTimes(real.root(), "/d", before, -1);
    real.touch("/d/c");
    writer.writeAll(() -> true);
    assertThat(row().getModifiedMillis()).as("of a change after it").isEqualTo(last);
  }

  @Test
  void theLastTimesAreWrittenAsLongAsThereIsTime() throws IOException {
    real.mkdirs("/e");
    real.touch("/e/first");
    real.clock.advance(10);
    real.touch("/d/a");
    real.touch("/e/a");
    AtomicLong asked = new AtomicLong();
    assertThat(writer.writeAll(() -> asked.getAndIncrement() == 0))
        .as("not written of /, /d and /e")
        .isEqualTo(2);
    assertThat(writer.writeAll(() -> true)).isZero();
    assertThat(row().getModifiedMillis()).isEqualTo(real.clock.millis());
  }

  @Test
  void theTimeDoesNotGoBack() throws IOException {
    real.clock.advance(10);
    real.touch("/d/a");
    long later = real.clock.millis() + 5_000;
    Key directory = key();
    InodeRow byAnother = row().toBuilder().setModifiedMillis(later).build();
    real.store.transact(
        0,
        transaction -> {
          transaction.put(Tables.INODE, directory, byAnother);
          return null;
        });
    nanos.addAndGet(SECOND);
    writer.tick(() -> true);
    assertThat(row().getModifiedMillis()).isEqualTo(later);
  }

  @Test
  void theTimeFollowsADirectoryThatMovesAndIsDroppedWithOneThatIsDeleted() throws IOException {
    real.clock.advance(10);
    real.touch("/d/a");
    long last = real.clock.millis();
    real.renames.rename2(real.root(), "/d", "/moved", false);
    nanos.addAndGet(SECOND);
    writer.tick(() -> true);
    assertThat(real.status("/moved").getModificationTime()).isEqualTo(last);

    real.touch("/moved/b");
    real.deletions.delete(real.root(), "/moved", true);
    nanos.addAndGet(2 * SECOND);
    writer.tick(() -> true);
    assertThat(real.tree()).isEmpty();
  }
}
