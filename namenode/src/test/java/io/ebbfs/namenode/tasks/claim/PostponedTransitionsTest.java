package io.ebbfs.namenode.tasks.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.tasks.lifecycle.BackgroundLimits;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PostponedTransitionsTest {
  private static final Footprint ONE_COMBINE = new Footprint(Map.of("s", 1), Map.of(), Map.of(), 0);

  /**
   * One claim asks the index while it holds the limiter, a second claim asks the postponed
   * transitions while it holds the index, and a third claim refreshes the postponed transitions.
   */
  @Test
  void aRefreshThatWaitsForTheLimiterKeepsNobodyElseWaiting() throws Exception {
    ClaimLimiter limiter = new ClaimLimiter(BackgroundLimits.NONE, Clock.systemUTC());
    PostponedTransitions postponed = new PostponedTransitions(limiter, Clock.systemUTC());
    postponed.add(TransitionRow.newBuilder().setId(2).buildPartial(), ONE_COMBINE);
    limiter.hold(TransitionRow.newBuilder().setId(1).buildPartial());
    CountDownLatch keeps = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Thread keeper =
        new Thread(
            () ->
                limiter.keep(
                    id -> {
                      keeps.countDown();
                      await(end);
                      return true;
                    }));
    Thread refresher = new Thread(postponed::refresh);
    try {
      keeper.start();
      await(keeps);
      refresher.start();
      while (refresher.getState() != Thread.State.BLOCKED) {
        Thread.sleep(1);
      }
      CompletableFuture<Boolean> asked =
          CompletableFuture.supplyAsync(() -> postponed.isWorthPlanning(3));
      assertThat(asked.get(10, TimeUnit.SECONDS)).isTrue();
    } finally {
      end.countDown();
      keeper.join();
      refresher.join();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
