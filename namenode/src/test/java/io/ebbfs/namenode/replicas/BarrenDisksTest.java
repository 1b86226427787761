package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.replicas.BarrenDisks.Found;
import org.junit.jupiter.api.Test;

/** Disks without a movable replica are left out for a while. */
class BarrenDisksTest {
  private final ManualClock clock = new ManualClock();
  private final BarrenDisks barren = new BarrenDisks(clock);

  @Test
  void onlyAWholeDiskWithNothingToMoveIsLeftOut() {
    barren.looked("a", Found.NOTHING, false);
    assertThat(barren.has("a")).isFalse();
    clock.advance(100_000);
    barren.looked("a", Found.MOVABLE, false);
    barren.looked("a", Found.NOTHING, true);
    assertThat(barren.has("a")).as("it has something").isFalse();
    barren.looked("a", Found.NOTHING, false);
    clock.advance(100_000);
    barren.looked("a", Found.NOTHING, true);
    assertThat(barren.has("a")).isTrue();
    assertThat(barren.has("b")).isFalse();
    clock.advance(999_999);
    assertThat(barren.has("a")).isTrue();
    clock.advance(1);
    assertThat(barren.has("a")).as("ten times as long as the look took").isFalse();
  }

  @Test
  void aDiskFromWhichSomethingMovesIsLookedAtAgain() {
    barren.looked("a", Found.NOTHING, true);
    barren.moved("a");
    assertThat(barren.has("a")).isFalse();
    barren.looked("a", Found.NOTHING, false);
    barren.moved("a");
    barren.looked("a", Found.NOTHING, true);
    assertThat(barren.has("a")).as("it has moved during the look").isFalse();
  }

  @Test
  void aDiskWhoseMembersWaitIsLeftOutUntilThereIsRoom() {
    barren.looked("members", Found.NOTHING, false);
    barren.looked("members", Found.WAITING_MEMBERS, false);
    assertThat(barren.has("members")).as("it may have replicas, too").isFalse();
    barren.looked("members", Found.NOTHING, true);
    barren.looked("empty", Found.NOTHING, true);
    barren.looked("replicas", Found.MOVABLE, false);
    barren.looked("replicas", Found.WAITING_MEMBERS, true);
    assertThat(barren.has("members")).isTrue();
    assertThat(barren.has("replicas")).isFalse();
    assertThat(barren.someWaitForRoom()).isTrue();
    barren.noteRoom();
    assertThat(barren.has("members")).isFalse();
    assertThat(barren.has("empty")).isTrue();
    assertThat(barren.someWaitForRoom()).isFalse();
    barren.looked("members", Found.WAITING_MEMBERS, true);
    clock.advance(60_000);
    assertThat(barren.someWaitForRoom()).isFalse();
    assertThat(barren.has("members")).as("it may have got replicas").isFalse();
  }

  @Test
  void aSmallDiskIsLeftOutForAMinute() {
    barren.looked("a", Found.NOTHING, true);
    clock.advance(59_999);
    assertThat(barren.has("a")).isTrue();
    clock.advance(1);
    assertThat(barren.has("a")).isFalse();
    barren.looked("a", Found.NOTHING, true);
    barren.clear();
    assertThat(barren.has("a")).isFalse();
  }
}
