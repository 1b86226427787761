package io.ebbfs.manager.heat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.heat.ManagerStore.OpenConversion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManagerStoreTest {
  private static final long HOUR = 3_600_000;
  private static final HalfLives BOTH = new HalfLives(HOUR, HOUR);

  @TempDir Path directory;

  private static ManagerStore.Position at(long offset) {
    return new ManagerStore.Position("t", 0, offset);
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
      assertThat(store.heatAt(now, HOUR).get(1L)).isCloseTo(1.75, within(1e-9));
      assertThat(store.heatAt(now + HOUR, HOUR).get(1L)).isCloseTo(0.875, within(1e-9));
      assertThat(store.heatAt(now, HOUR).get(2L)).isCloseTo(0.125, within(1e-9));
    }
  }

  @Test
  void anEventThatStandsForManyOpensCountsThemAll() throws Exception {
    try (ManagerStore store = ManagerStore.open(directory)) {
      long now = 100 * HOUR;
      store.count(List.of(new OpenEvent(1, now, 5), new OpenEvent(1, now - HOUR, 4)), at(2), BOTH);
      assertThat(store.heatAt(now, HOUR).get(1L)).isCloseTo(7, within(1e-9));
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
      assertThat(store.heatAt(HOUR, HOUR)).containsOnly(java.util.Map.entry(7L, 1.0));
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
      assertThat(store.heatAt(later, HOUR).get(7L)).isLessThan(0.01);
      assertThat(store.rememberedAt(later, 10 * HOUR).get(7L)).isCloseTo(2, within(1e-9));
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
      store.addConversion(new OpenConversion(1, HOUR, "a", 1));
      store.addConversion(new OpenConversion(2, 2 * HOUR, "a", 10));
      store.addConversion(new OpenConversion(3, 2 * HOUR, "a", 100));
      store.addConversion(new OpenConversion(4, 2 * HOUR, "b", 7));
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
        store.addConversion(conversion);
      }
      store.endConversion(failed, false);
      store.endConversion(failed, false);
      store.endConversion(done, true);
      assertThat(store.openConversions(HOUR)).containsExactly(open);
      assertThat(store.convertedWithinDay(HOUR)).containsOnly(java.util.Map.entry("a", 110L));
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
      assertThat(store.heatAt(now, HOUR)).containsOnlyKeys(3L, 4L);
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
