package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Who has room in the queue, and that the room is bounded. */
class RedundancyQueueTest {
  private static final int LIMIT = 10;

  private final RedundancyQueue queue = new RedundancyQueue(LIMIT);

  private void note(long firstId, int count, int liveReplicas) {
    for (long id = firstId; id < firstId + count; id++) {
      queue.underReplicated(id, liveReplicas, 0);
    }
  }

  @Test
  void blocksWithoutAReplicaTakeNoRoomFromOthers() {
    note(0, 5 * LIMIT, 0);
    assertThat(queue.missingCount()).isEqualTo(LIMIT);
    note(1_000, 5 * LIMIT, 2);
    note(2_000, 5 * LIMIT, 1);
    assertThat(queue.repairable(100, 0)).hasSize(2 * LIMIT);
    assertThat(queue.isRepairable(1_000 + LIMIT - 1)).isTrue();
    assertThat(queue.isRepairable(2_000 + LIMIT - 1)).isTrue();
    assertThat(queue.underReplicatedCount()).isEqualTo(3 * LIMIT);
  }

  @Test
  void othersTakeNoRoomFromBlocksWithoutAReplica() {
    note(1_000, 5 * LIMIT, 1);
    note(0, 5 * LIMIT, 0);
    assertThat(queue.missingCount()).isEqualTo(LIMIT);
  }

  /** Replicas that come and go move blocks between the two rooms. */
  @Test
  void blocksThatGetOrLoseTheirOnlyReplicaKeepToTheLimits() {
    for (int round = 0; round < 10; round++) {
      note(100L * round, LIMIT, 0);
      note(100L * round, LIMIT, 2);
    }
    assertThat(queue.repairable(1_000, 0)).hasSize(LIMIT);
    note(0, 1_000, 0);
    assertThat(queue.missingCount()).isEqualTo(LIMIT);
    assertThat(queue.underReplicatedCount()).isLessThanOrEqualTo(3 * LIMIT);
  }

  @Test
  void blocksThatLeaveComeLastAndTakeNoRoomFromOthers() {
    for (long id = 1_000; id < 1_000 + 5 * LIMIT; id++) {
      queue.leaves(id, 1, 0);
    }
    note(2_000, 5 * LIMIT, 2);
    assertThat(queue.underReplicatedCount()).isEqualTo(2 * LIMIT);
    List<Long> due = queue.repairable(100, 0);
    assertThat(due).hasSize(2 * LIMIT);
    assertThat(due.subList(0, LIMIT)).allMatch(id -> id >= 2_000);
    assertThat(queue.hasRoom()).isFalse();
    queue.leaves(2_000, 1, 0);
    assertThat(queue.repairable(100, 0)).as("there is no room for one more").hasSize(19);
  }

  /** A block that loses a replica while it leaves is more urgent from then on. */
  @Test
  void aBlockThatLeavesAndLosesAReplicaComesFirst() {
    queue.leaves(1, 1, 0);
    queue.leaves(2, 1, 0);
    queue.underReplicated(2, 2, 0);
    assertThat(queue.repairable(100, 0)).containsExactly(2L, 1L);
    queue.leaves(2, 1, 0);
    assertThat(queue.repairable(100, 0)).containsExactly(1L, 2L);
  }

  @Test
  void blocksWithoutAReplicaAreListedInTheOrderOfTheirIds() {
    for (long id : new long[] {7, 3, 9, 1, 5}) {
      note(id, 1, 0);
    }
    note(2, 1, 1);
    assertThat(queue.missingAfter(0, 3)).containsExactly(1L, 3L, 5L);
    assertThat(queue.missingAfter(3, 2)).containsExactly(5L, 7L);
    assertThat(queue.missingAfter(5, 10)).containsExactly(7L, 9L);
    assertThat(queue.missingAfter(9, 10)).isEmpty();
  }

  @Test
  void aFullLevelLeavesPlacesToTheLevelsBehindIt() {
    RedundancyQueue large = new RedundancyQueue(1_000);
    for (long id = 0; id < 500; id++) {
      large.underReplicated(id, 1, 0);
    }
    for (long id = 1_000; id < 1_500; id++) {
      large.underReplicated(id, 2, 0);
    }
    List<Long> due = large.repairable(100, 0);
    assertThat(due).hasSize(100);
    assertThat(due.subList(0, 84)).allMatch(id -> id < 500);
    assertThat(due.subList(84, 100)).allMatch(id -> id >= 1_000);
  }

  @Test
  void blocksThatNoServerThatStaysHasLeaveBeforeOthersThatLeave() {
    RedundancyQueue queue = new RedundancyQueue(100);
    for (long id = 1; id <= 20; id++) {
      queue.leaves(id, 1, 0);
    }
    queue.leaves(50, 0, 0);
    queue.leaves(51, 0, 0);
    queue.underReplicated(60, 1, 0);
    assertThat(queue.repairable(12, 0)).startsWith(60L, 50L, 51L, 1L);
    queue.leaves(51, 1, 0);
    assertThat(queue.repairable(12, 0)).startsWith(60L, 50L, 1L);
  }
}
