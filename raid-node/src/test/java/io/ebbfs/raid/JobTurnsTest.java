package io.ebbfs.raid;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.raid.config.RaidConfig;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

final class JobTurnsTest {
  @Property(tries = 500)
  void theJobsOfTheTurnsNeverEndTogether(
      @ForAll @LongRange(max = 1L << 40) long now,
      @ForAll @IntRange(max = RaidConfig.JOBS_AT_ONCE - 1) int turn,
      @ForAll @LongRange(min = 10_000, max = 86_400_000) long life) {
    long left = RaidNode.lifeMillis(now, turn, life);
    assertThat(left).isBetween(life / 4, life + life / 4);
    assertThat((now + left) % life).isEqualTo(turn * life / RaidConfig.JOBS_AT_ONCE);
  }
}
