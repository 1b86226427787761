package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ThrottleTest {
  private long nanos;

  @Test
  void manyAcquisitionsKeepTheRate() throws Exception {
    Throttle throttle = new Throttle(1000, () -> nanos, millis -> nanos += millis * 1_000_000);
    for (int i = 0; i < 100; i++) {
      throttle.acquire(700);
    }
    // The bucket is full at the start, and nobody waits for the debt of the last request.
    assertThat(nanos / 1e9).isBetween(68.0, 70.0);
  }

  @Test
  void withoutALimitNothingWaits() throws Exception {
    Throttle throttle =
        new Throttle(
            0,
            () -> nanos,
            millis -> {
              throw new AssertionError("paused");
            });
    throttle.acquire(Long.MAX_VALUE);
  }
}
