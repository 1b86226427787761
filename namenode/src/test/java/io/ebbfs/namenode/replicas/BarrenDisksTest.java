package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import org.junit.jupiter.api.Test;

/** Disks without a movable replica are left out for a while. */
class BarrenDisksTest {
  private final ManualClock clock = new ManualClock();
  private final BarrenDisks barren = new BarrenDisks(clock);

  @Test
  void onlyAWholeDiskWithNothingToMoveIsLeftOut() {
    barren.looked("a", false, false);
    assertThat(barren.has("a")).isFalse();
    clock.advance(100_000);
    barren.looked("a", true, false);
    barren.looked("a", false, true);
    assertThat(barren.has("a")).as("it has something").isFalse();
    barren.looked("a", false, false);
    clock.advance(100_000);
    barren.looked("a", false, true);
    assertThat(barren.has("a")).isTrue();
    assertThat(barren.has("b")).isFalse();
    clock.advance(999_999);
    assertThat(barren.has("a")).isTrue();
    clock.advance(1);
    assertThat(barren.has("a")).as("ten times as long as the look took").isFalse();
  }

  @Test
  void aDiskFromWhichSomethingMovesIsLookedAtAgain() {
    barren.looked("a", false, true);
    barren.moved("a");
    assertThat(barren.has("a")).isFalse();
    barren.looked("a", false, false);
    barren.moved("a");
    barren.looked("a", false, true);
    assertThat(barren.has("a")).as("it has moved during the look").isFalse();
  }

  @Test
  void aSmallDiskIsLeftOutForAMinute() {
    barren.looked("a", false, true);
    clock.advance(59_999);
    assertThat(barren.has("a")).isTrue();
    clock.advance(1);
    assertThat(barren.has("a")).isFalse();
    barren.looked("a", false, true);
    barren.clear();
    assertThat(barren.has("a")).isFalse();
  }
}
