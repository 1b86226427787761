package io.ebbfs.namenode.replicas;

import static org.assertj.core.api.Assertions.assertThat;

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
}
