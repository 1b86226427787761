package io.ebbfs.manager.heat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.heat.ManagerStore.OpenConversion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManagerStoreTest {
  private static final long HOUR = 3_600_000;
  private static final HalfLives BOTH = new HalfLives(HOUR, HOUR);

  @TempDir Path directory;

  private static ManagerStore.Position at(long offset) {
    return new ManagerStore.Position("t", 0, offset);
  }

  private static ReadCounts heat(ManagerStore store, long nowMillis) {
    return store.counts(nowMillis, BOTH).heat();
  }

  /** A random test that is compared with counting by hand; what is listed depends on ranks. */
  @Test
  void theFilesThatWereReadMostAreFoundWithoutLookingAtTheOthers() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Map<Long, Double> byHand = new HashMap<>();
    long now = 1_000 * HOUR;
    try (ManagerStore store = ManagerStore.open(directory)) {
      for (int batch = 0; batch < 50; batch++) {
        List<OpenEvent> events = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
          long id = 1 + random.nextInt(5_000);
          long age = random.nextInt(20) * HOUR / 4;
          long opens = 1 + random.nextInt(100);
          events.add(new OpenEvent(id, now - age, opens));
          byHand.merge(id, opens * Math.pow(2, -(double) age / HOUR), Double::sum);
        }
        store.count(events, at(batch), BOTH);
      }
      check(store, now, byHand, seed);
      long before = store.visited();
      heat(store, now).mostRead(20);
      assertThat(store.visited() - before).as("seed %d", seed).isEqualTo(20);
      int pruned = store.prune(now + 9 * HOUR, BOTH, 0.05, id -> true, now);
      byHand.values().removeIf(reads -> reads / 512 < 0.05);
      assertThat(pruned).as("seed %d", seed).isPositive();
      check(store, now, byHand, seed);
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      check(store, now, byHand, seed);
      HalfLives others = new HalfLives(2 * HOUR, HOUR);
      assertThat(store.counts(now, others).heat().mostRead(10_000))
          .as("seed %d, other half-lives", seed)
          .hasSize(byHand.size());
    }
  }

  private static void check(ManagerStore store, long now, Map<Long, Double> byHand, long seed) {
    ReadCounts heat = heat(store, now);
    List<Long> most = heat.mostRead(100);
    assertThat(most).as("seed %d", seed).hasSize(100).doesNotHaveDuplicates();
    double least = most.stream().mapToDouble(byHand::get).min().orElseThrow();
    byHand.forEach(
        (id, reads) -> {
          assertThat(heat.of(id)).as("seed %d", seed).isCloseTo(reads, within(1e-6));
          if (!most.contains(id)) {
            assertThat(reads).as("seed %d", seed).isLessThan(1.1 * least);
          }
        });
    assertThat(heat.mostRead(10_000)).as("seed %d", seed).hasSize(byHand.size());
    assertThat(heat.all())
        .as("seed %d", seed)
        .isCloseTo(byHand.values().stream().mapToDouble(r -> r).sum(), within(1e-3));
  }

  @Test
  void aPruningLooksAtFewCountsAndTheNextOneGoesOnBehindThem() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      int files = 50_000;
      List<OpenEvent> events = new ArrayList<>();
      for (long id = 1; id <= files; id++) {
        events.add(new OpenEvent(id, 100 * HOUR));
      }
      store.count(events, at(1), BOTH);
      long before = store.visited();
      int pruned = store.prune(101 * HOUR, BOTH, 0.01, id -> id <= files - 5, 101 * HOUR);
      assertThat(pruned).isZero();
      assertThat(store.visited() - before).isLessThan(files / 2);
      store.prune(101 * HOUR, BOTH, 0.01, id -> id <= files - 5, 101 * HOUR);
      pruned = store.prune(101 * HOUR, BOTH, 0.01, id -> id <= files - 5, 101 * HOUR);
      assertThat(pruned).isEqualTo(5);
    }
  }

  @Test
  void countsHalveEveryHalfLifeInWhateverOrderTheyCome() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      long now = 100 * HOUR;
      store.count(
          List.of(
              new OpenEvent(1, now),
              new OpenEvent(1, now - 2 * HOUR),
              new OpenEvent(1, now - HOUR),
              new OpenEvent(2, now - 3 * HOUR)),
          at(4),
          BOTH);
      assertThat(heat(store, now).of(1L)).isCloseTo(1.75, within(1e-9));
      assertThat(heat(store, now + HOUR).of(1L)).isCloseTo(0.875, within(1e-9));
      assertThat(heat(store, now).of(2L)).isCloseTo(0.125, within(1e-9));
    }
  }

  @Test
  void anEventThatStandsForManyOpensCountsThemAll() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      long now = 100 * HOUR;
      store.count(List.of(new OpenEvent(1, now, 5), new OpenEvent(1, now - HOUR, 4)), at(2), BOTH);
      assertThat(heat(store, now).of(1L)).isCloseTo(7, within(1e-9));
    }
  }

  @Test
  void countsAndOffsetsSurviveARestart() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.nextOffset("t", 0)).isEqualTo(-1);
      store.count(List.of(new OpenEvent(7, HOUR)), at(42), BOTH);
      store.putSample(5, "{}");
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.nextOffset("t", 0)).isEqualTo(42);
      assertThat(store.nextOffset("t", 1)).isEqualTo(-1);
      assertThat(heat(store, HOUR).of(7L)).isEqualTo(1.0);
      assertThat(store.samplesSince(5)).containsExactly("{}");
      store.dropSamplesBefore(6);
      assertThat(store.samplesSince(0)).isEmpty();
    }
  }

  @Test
  void readsAreRememberedLongerThanTheyAreHot() throws Exception {
    HalfLives both = new HalfLives(HOUR, 10 * HOUR);
    try (ManagerStore store = ManagerStore.open(directory)) {
      store.count(List.of(new OpenEvent(7, HOUR, 4)), at(1), both);
      long later = 11 * HOUR;
      assertThat(heat(store, later).of(7L)).isLessThan(0.01);
      assertThat(store.counts(later, both).remembered().of(7L)).isCloseTo(2, within(1e-9));
      assertThat(store.prune(later, both, 0.01, id -> true, later)).isZero();
      assertThat(store.prune(200 * HOUR, both, 0.01, id -> true, later)).isEqualTo(1);
    }
  }

  @Test
  void knowsSinceWhenNoReadWasLost() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.countedSince(5)).isEqualTo(5);
      assertThat(store.countedSince(9)).isEqualTo(5);
      store.countAnew(7);
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.countedSince(9)).isEqualTo(7);
    }
  }

  @Test
  void failureRatesSurviveARestart() throws Exception {
    FailureRates rates = FailureRates.PRIOR.plus(2, 0.5, 0.25);
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.failureRates()).isEqualTo(FailureRates.PRIOR);
      store.putFailureRates(rates);
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.failureRates()).isEqualTo(rates);
    }
  }

  @Test
  void theConversionsOfADayAreSummedByPolicy() throws Exception {
    long day = 24 * HOUR;
    try (ManagerStore store = ManagerStore.open(directory)) {
      store.addConversion(new OpenConversion(1, HOUR, "a", 1), Long.MAX_VALUE);
      store.addConversion(new OpenConversion(2, 2 * HOUR, "a", 10), Long.MAX_VALUE);
      store.addConversion(new OpenConversion(3, 2 * HOUR, "a", 100), Long.MAX_VALUE);
      store.addConversion(new OpenConversion(4, 2 * HOUR, "b", 7), Long.MAX_VALUE);
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.convertedWithinDay(2 * HOUR))
          .containsOnly(java.util.Map.entry("a", 111L), java.util.Map.entry("b", 7L));
      assertThat(store.convertedWithinDay(day + HOUR + 1).get("a")).isEqualTo(110);
      assertThat(store.convertedWithinDay(HOUR)).as("the clock went back").doesNotContainKey("b");
      assertThat(store.convertedWithinDay(day + 2 * HOUR + 1)).isEmpty();
    }
  }

  @Test
  void aConversionThatWasNotCarriedOutNoLongerCounts() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      OpenConversion failed = new OpenConversion(1, HOUR, "a", 1);
      OpenConversion done = new OpenConversion(2, HOUR, "a", 10);
      OpenConversion open = new OpenConversion(3, HOUR, "a", 100);
      for (OpenConversion conversion : List.of(failed, done, open)) {
        store.addConversion(conversion, Long.MAX_VALUE);
      }
      store.endConversion(failed, false);
      store.endConversion(failed, false);
      store.endConversion(done, true);
      assertThat(store.openConversions(HOUR)).containsExactly(open);
      assertThat(store.convertedWithinDay(HOUR)).containsOnly(java.util.Map.entry("a", 110L));
    }
  }

  /** 25 bytes with a budget of 10 count 10, 10 and 5. */
  @Test
  void aConversionLargerThanTheBudgetCountsOnTheFollowingDaysToo() throws Exception {
    long day = 24 * HOUR;
    OpenConversion large = new OpenConversion(1, HOUR, "a", 25);
    try (ManagerStore store = ManagerStore.open(directory)) {
      store.addConversion(large, 10);
      store.endConversion(store.openConversions(HOUR).get(0), true);
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      store.addConversion(new OpenConversion(2, 2 * HOUR, "b", 7), 10);
      assertThat(store.convertedWithinDay(2 * HOUR).get("a")).isEqualTo(10);
      assertThat(store.convertedWithinDay(day + 2 * HOUR).get("a")).isEqualTo(10);
      assertThat(store.convertedWithinDay(2 * day + 2 * HOUR).get("a")).isEqualTo(5);
      assertThat(store.convertedWithinDay(3 * day + 2 * HOUR)).isEmpty();
      store.endConversion(store.openConversions(day + 2 * HOUR + 1).get(0), false);
      assertThat(store.convertedWithinDay(2 * day + 2 * HOUR)).as("it failed").isEmpty();
    }
  }

  @Test
  void theDebtOfAConversionIsLimited() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      store.addConversion(new OpenConversion(1, HOUR, "a", Long.MAX_VALUE), 1);
      long last = HOUR + (ManagerStore.MOST_DAYS - 1) * 24 * HOUR;
      assertThat(store.convertedWithinDay(last + 1)).containsOnly(java.util.Map.entry("a", 1L));
      assertThat(store.convertedWithinDay(last + 24 * HOUR + 1)).isEmpty();
    }
  }

  @Test
  void prunesWhatIsColdOrGoneButNotWhatIsNewerThanTheListing() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      long now = 100 * HOUR;
      store.count(
          List.of(
              new OpenEvent(1, now - 10 * HOUR),
              new OpenEvent(2, now - 100),
              new OpenEvent(3, now),
              new OpenEvent(4, now - 100)),
          at(4),
          BOTH);
      assertThat(store.prune(now, BOTH, 0.01, id -> id == 4, now - 50)).isEqualTo(2);
      assertThat(heat(store, now).mostRead(9)).containsExactlyInAnyOrder(3L, 4L);
      assertThat(heat(store, now).all()).isCloseTo(2, within(0.01));
    }
  }

  /** The dead files have the highest ids: a pruning that goes by ids comes to them later. */
  @Test
  void deletedFilesAreNotAmongThoseThatWereReadMostAndGoWithTheNextPruning() throws Exception {
    long files = 20_001;
    long now = 100 * HOUR;
    List<OpenEvent> events = new ArrayList<>();
    for (long id = 1; id <= files; id++) {
      events.add(new OpenEvent(id, now - 100, id <= 5 ? 50 : 1));
    }
    for (long dead = files + 1; dead <= files + 40; dead++) {
      events.add(new OpenEvent(dead, now - 100, 1_000));
    }
    try (ManagerStore store = ManagerStore.open(directory)) {
      store.count(events, at(1), BOTH);
      long before = store.visited();
      assertThat(heat(store, now).mostRead(3, id -> id <= files)).as("30 rows are dead").isEmpty();
      assertThat(store.visited() - before).isEqualTo(30);
      assertThat(heat(store, now).mostRead(5, id -> id <= files))
          .containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L);
      assertThat(store.prune(now, BOTH, 0.01, id -> id <= files, now - 50)).isEqualTo(40);
      assertThat(heat(store, now).mostRead(5)).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L);
    }
  }

  @Test
  void aStoreInUseIsRefusedWithTheRemedy() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      assertThat(store.samplesSince(0)).isEmpty();
      assertThatThrownBy(() -> ManagerStore.open(directory))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(directory.toString())
          .hasMessageContaining("stop the process that holds it");
    }
  }

  @Test
  void readsEventsAndSaysWhatIsWrongWithOthers() {
    assertThat(parse("{\"inode\":12,\"path\":\"/a\",\"time\":5,\"client\":\"c\",\"x\":[]}"))
        .isEqualTo(new OpenEvent(12, 5, 1));
    assertThat(parse("{\"inode\":12,\"time\":5,\"count\":9}")).isEqualTo(new OpenEvent(12, 5, 9));
    for (String broken :
        List.of(
            "",
            "{",
            "null",
            "[1]",
            "{}",
            "{\"inode\":0,\"time\":1}",
            "{\"inode\":1}",
            "{\"inode\":\"1\",\"time\":1}",
            "{\"inode\":1,\"time\":-1}",
            "{\"inode\":1,\"time\":1,\"count\":0}",
            "{\"inode\":1,\"time\":1,\"count\":\"2\"}",
            "{\"inode\":99999999999999999999,\"time\":1}")) {
      assertThatThrownBy(() -> parse(broken))
          .as(broken)
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> OpenEvent.parse(null)).isInstanceOf(IllegalArgumentException.class);
  }

  private static OpenEvent parse(String text) {
    return OpenEvent.parse(text.getBytes(StandardCharsets.UTF_8));
  }
}
