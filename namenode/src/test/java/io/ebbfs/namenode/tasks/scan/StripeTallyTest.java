package io.ebbfs.namenode.tasks.scan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class StripeTallyTest {
  private static final long SEED = Long.getLong("ebbfs.seed", System.nanoTime());

  private final StripeTally tally = new StripeTally();
  private final TreeMap<Long, Integer> model = new TreeMap<>();

  @Test
  void theSumsFollowEveryStep() {
    followsEveryStep(1, 40);
  }

  /** The ids lie on both sides of a multiple of 4,096, where another array of the tally begins. */
  @Test
  void theSumsFollowEveryStepOverSeveralRanges() {
    followsEveryStep(8_192 - 20, 40);
    followsEveryStep(1, 20_000);
  }

  /** The sums are those of a plain map after any steps. */
  private void followsEveryStep(long firstId, int ids) {
    Random random = new Random(SEED);
    for (int step = 0; step < 5_000; step++) {
      long id = firstId + random.nextInt(ids);
      switch (random.nextInt(4)) {
        case 0 -> {
          tally.remove(id);
          model.remove(id);
        }
        case 1 -> retain(random, id);
        default -> {
          int number = 1 + random.nextInt(5);
          tally.put(id, number);
          model.put(id, number);
        }
      }
      Map<Integer, Long> expected =
          model.values().stream().collect(Collectors.groupingBy(n -> n, Collectors.counting()));
      assertThat(tally.stripesByNumber()).as("seed %d, step %d", SEED, step).isEqualTo(expected);
      assertThat(tally.stripes()).isEqualTo(model.size());
      assertThat(tally.contains(id)).isEqualTo(model.containsKey(id));
    }
  }

  /** As objects of a map, a million numbers would take more than 64 MB. */
  @Test
  void aMillionDamagedStripesTakeFewBytes() {
    long before = usedBytes();
    for (long id = 1; id <= 2_000_000; id += 2) {
      tally.put(id, 1 + (int) (id % 5));
    }
    assertThat(usedBytes() - before).isLessThan(20L << 20);
    assertThat(tally.stripes()).isEqualTo(1_000_000);
    tally.retain(0, Long.MAX_VALUE, List.of(7L));
    assertThat(tally.stripesByNumber()).isEqualTo(Map.of(3, 1L));
  }

  private static long usedBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void aNumberThatIsTooLargeCountsAsTheLargest() {
    tally.put(1, 1_000_000);
    assertThat(tally.stripesByNumber()).isEqualTo(Map.of(65_535, 1L));
    tally.put(1, 2);
    assertThat(tally.stripesByNumber()).isEqualTo(Map.of(2, 1L));
  }

  /** What a page of a scan does not show between its ends is gone; what lies outside stays. */
  private void retain(Random random, long after) {
    long upTo = after + random.nextInt(20);
    List<Long> page = new ArrayList<>();
    for (long id = after + 1; id <= upTo; id++) {
      if (random.nextInt(3) > 0) {
        page.add(id);
      }
    }
    tally.retain(after, upTo, page);
    model.keySet().removeIf(id -> id > after && id <= upTo && !page.contains(id));
  }
}
