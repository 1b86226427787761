package io.ebbfs.namenode.datanodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.common.time.ManualClock;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ByteBudgetTest {
  private static final ByteRate RATE = new ByteRate(1_000, 5_000);

  private final ManualClock clock = new ManualClock();
  private final ByteBudget budget = new ByteBudget(RATE, clock);

  @Test
  void aLargePieceRunsAtOnceAndLaterOnesPayForIt() {
    assertThat(budget.take(Map.of("a", 4_000L), 4_000, false)).isTrue();
    assertThat(budget.take(Map.of("a", 1L), 1, false)).isFalse();
    assertThat(budget.take(Map.of("b", 1L), 1, false)).as("another server").isTrue();
    clock.advance(2_999);
    assertThat(budget.allows(Set.of("a"), false)).isFalse();
    clock.advance(1);
    assertThat(budget.take(Map.of("a", 1L), 1, false)).isTrue();
  }

  @Test
  void aPieceThatHasToWaitTakesNothing() {
    assertThat(budget.take(Map.of("a", 1_001L), 1, false)).isTrue();
    assertThat(budget.take(Map.of("a", 1L, "b", 9_000L), 9_000, false)).isFalse();
    assertThat(budget.take(Map.of("b", 1L), 1, false)).isTrue();
  }

  @Test
  void whatDidNotBeginIsGivenBack() {
    assertThat(budget.take(Map.of("a", 9_000L), 9_000, false)).isTrue();
    budget.giveBack(Map.of("a", 9_000L), 9_000);
    assertThat(budget.take(Map.of("a", 1L), 1, false)).isTrue();
  }

  @Test
  void anUrgentPieceDoesNotWaitForTheDebtsOfOthers() {
    assertThat(budget.take(Map.of("a", 4_000L), 4_000, false)).isTrue();
    assertThat(budget.take(Map.of("a", 7_002L), 1, true)).isTrue();
    assertThat(budget.take(Map.of("a", 1L), 1, true)).as("10 s of debt").isFalse();
  }

  @Test
  void withoutALimitNothingWaits() {
    ByteBudget unlimited = new ByteBudget(ByteRate.UNLIMITED, clock);
    for (int i = 0; i < 1_000; i++) {
      assertThat(unlimited.take(Map.of("a", 1L << 40), 1L << 40, false)).isTrue();
    }
  }

  /** Whoever asks as often as possible gets no more than the rate, for each server and in all. */
  @Test
  void noServerAndNotTheClusterMovesMoreThanItsRate() {
    long seed = Long.getLong("ebbfs.seed", System.nanoTime());
    System.out.println("ByteBudgetTest: -Debbfs.seed=" + seed);
    Random random = new Random(seed);
    int largest = 3_000;
    Map<String, Long> moved = new HashMap<>();
    long total = 0;
    int seconds = 1_000;
    for (int i = 0; i < seconds * 50; i++) {
      clock.advance(20);
      Map<String, Long> piece = new HashMap<>();
      for (int server = random.nextInt(3); server >= 0; server--) {
        piece.put("server-" + random.nextInt(10), 1L + random.nextInt(largest));
      }
      long bytes = piece.values().stream().mapToLong(Long::longValue).sum();
      if (budget.take(piece, bytes, random.nextInt(4) == 0)) {
        piece.forEach((server, some) -> moved.merge(server, some, Long::sum));
        total += bytes;
      }
    }
    // A second that is saved, ten seconds of urgent debt, and the last piece.
    assertThat(moved.values()).allMatch(bytes -> bytes <= (seconds + 11) * 1_000L + largest);
    assertThat(total).isLessThanOrEqualTo((seconds + 11) * 5_000L + 3 * largest);
    assertThat(total).as("the rate is used").isGreaterThan(seconds * 4_500L);
  }
}
