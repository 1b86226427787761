package io.ebbfs.common.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneId;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
  private final ManualClock timeOfDay = new ManualClock(1_000);
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final SteadyClock clock = SteadyClock.from(timeOfDay, nanos::get);

  @Test
  void itGoesOnByTheTimerAndPastItsOverflow() {
    nanos.addAndGet(7_000_000);
    assertThat(clock.millis()).isEqualTo(1_007);
  }

  @Test
  void aJumpOfTheTimeOfDayDoesNotMoveIt() {
    timeOfDay.advance(3_600_000);
    assertThat(clock.millis()).isEqualTo(1_000);
    timeOfDay.advance(-7_200_000);
    assertThat(clock.millis()).isEqualTo(1_000);
    assertThat(clock.withZone(ZoneId.of("Asia/Tokyo")).millis()).isEqualTo(1_000);
  }
}
