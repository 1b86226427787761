package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.DirectoryTimes.Pending;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DirectoryTimesTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong nanos = new AtomicLong(77);
  private final DirectoryTimes times = new DirectoryTimes(nanos::get);

  private boolean anotherWritesNow() throws Exception {
    return CompletableFuture.supplyAsync(() -> times.writesNow(1), task -> new Thread(task).start())
        .get();
  }

  @Test
  void ofManyChangesThatComeWhenATimeIsDueOneWritesIt() throws Exception {
    assertThat(times.writesNow(1)).isTrue();
    assertThat(anotherWritesNow()).as("else it would wait for the lock of the row").isFalse();
    assertThat(times.writesNow(1)).as("it begins anew after a conflict").isTrue();
    times.noteLater(2, new Pending(5, 0));
    times.noteWritten(1, new Pending(10, 0));
    assertThat(anotherWritesNow()).isFalse();
    nanos.addAndGet(SECOND);
    assertThat(anotherWritesNow()).isTrue();
    nanos.addAndGet(5 * SECOND);
    assertThat(times.writesNow(1)).as("the commit of the other one takes long").isFalse();
  }

  @Test
  void aChangeThatNeverEndsHoldsTheOthersOffForTenSeconds() throws Exception {
    assertThat(anotherWritesNow()).isTrue();
    assertThat(times.writesNow(1)).isFalse();
    times.noteLater(1, new Pending(10, 0));
    assertThat(times.due()).as("nobody has written it").containsEntry(1L, new Pending(10, 0));
    nanos.addAndGet(10 * SECOND);
    assertThat(times.writesNow(1)).isTrue();
  }

  @Test
  void nothingStaysOfChangesThatFailed() throws Exception {
    assertThat(anotherWritesNow()).isTrue();
    nanos.addAndGet(10 * SECOND);
    assertThat(times.due()).isEmpty();
    assertThat(anotherWritesNow()).isTrue();
  }
}
