package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class CombineLimiterTest {
  private final CombineLimiter limits = new CombineLimiter(3, 2);

  @Test
  void whatWaitsForABusyServerDoesNotHoldUpTheOthers() throws Exception {
    Runnable first = limits.acquire("busy");
    limits.acquire("busy");
    CompletableFuture<Runnable> third = later("busy");
    // The third place goes to the other server, although a combine of the first came before.
    Runnable other = limits.acquire("idle");
    assertThat(third).isNotDone();
    first.run();
    assertThat(third.get(20, TimeUnit.SECONDS)).isNotNull();
    CompletableFuture<Runnable> fourth = later("idle");
    assertThat(fourth).isNotDone();
    other.run();
    assertThat(fourth.get(20, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void whoIsInterruptedTakesNothing() throws Exception {
    limits.acquire("a");
    limits.acquire("c");
    Runnable other = limits.acquire("b");
    AtomicBoolean interrupted = new AtomicBoolean();
    Thread waiting =
        new Thread(
            () -> {
              try {
                limits.acquire("a");
              } catch (InterruptedException e) {
                interrupted.set(true);
              }
            });
    waiting.start();
    while (waiting.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    waiting.interrupt();
    waiting.join();
    assertThat(interrupted).isTrue();
    other.run();
    limits.acquire("a");
  }

  private CompletableFuture<Runnable> later(String server) throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    CompletableFuture<Runnable> acquired =
        CompletableFuture.supplyAsync(
            () -> {
              started.countDown();
              try {
                return limits.acquire(server);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            },
            task -> {
              Thread thread = new Thread(task);
              thread.setDaemon(true);
              thread.start();
            });
    started.await();
    return acquired;
  }
}
