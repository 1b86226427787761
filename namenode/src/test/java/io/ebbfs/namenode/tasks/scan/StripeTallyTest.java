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

  /** The sums are those of a plain map after any steps. */
  @Test
  void theSumsFollowEveryStep() {
    Random random = new Random(SEED);
    for (int step = 0; step < 5_000; step++) {
      long id = 1 + random.nextInt(40);
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
    }
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
