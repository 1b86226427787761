package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.placement.ReplicaServerChooser.Candidate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReplicaServerChooserTest {
  private final long seed = Long.getLong("ebbfs.seed", 20_261_121L);
  private final Random random = new Random(seed);

  private static ReplicaServerChooser chooser(int servers, int racks) {
    return new ReplicaServerChooser(
        IntStream.range(0, servers)
            .mapToObj(s -> new Candidate("/rack-" + s % racks, s < servers / 2 ? 1e12 : 3e12))
            .toList());
  }

  @Test
  void pipelinesUseTwoRacksAndBigServersMore() {
    int[] chosen = new int[8];
    ReplicaServerChooser chooser = chooser(8, 3);
    for (int round = 0; round < 2_000; round++) {
      Set<Integer> taken = new HashSet<>();
      List<String> racks = new ArrayList<>();
      for (int replica = 0; replica < 3; replica++) {
        int next =
            chooser.next(racks, s -> !taken.contains(s), s -> 1, random::nextDouble).orElseThrow();
        assertThat(taken.add(next)).as("seed %d", seed).isTrue();
        racks.add("/rack-" + next % 3);
        chosen[next]++;
      }
      assertThat(racks.get(1)).as("seed %d", seed).isNotEqualTo(racks.get(0));
      assertThat(racks.get(2)).as("seed %d", seed).isEqualTo(racks.get(1));
    }
    int small = chosen[0] + chosen[1] + chosen[2] + chosen[3];
    assertThat(6_000 - small).as("seed %d", seed).isGreaterThan((int) (1.5 * small));
  }

  @Test
  void ofTwoDrawnServersTheLessLoadedIsTaken() {
    ReplicaServerChooser chooser = chooser(2, 1);
    int busy = 0;
    for (int round = 0; round < 2_000; round++) {
      busy +=
          chooser.next(List.of(), s -> true, s -> s == 1 ? 9 : 1, random::nextDouble).orElseThrow();
    }
    // Server 1 has three quarters of the space. It is taken if both draws fall on it.
    assertThat(busy / 2_000.0).as("seed %d", seed).isBetween(0.51, 0.61);
  }

  @Test
  void racksOfTheSameNameInTwoDataCentresAreTwoRacks() {
    List<String> racks = List.of("/dc1/r", "/dc1/r", "/dc2/r", "/dc2/r");
    ReplicaServerChooser chooser =
        new ReplicaServerChooser(racks.stream().map(rack -> new Candidate(rack, 1e12)).toList());
    for (int round = 0; round < 200; round++) {
      int first = chooser.next(List.of(), s -> true, s -> 1, random::nextDouble).orElseThrow();
      int second =
          chooser
              .next(List.of(racks.get(first)), s -> s != first, s -> 1, random::nextDouble)
              .orElseThrow();
      assertThat(racks.get(second)).as("seed %d", seed).isNotEqualTo(racks.get(first));
    }
  }

  @Test
  void oneRackIsNoObstacle() {
    ReplicaServerChooser chooser = new ReplicaServerChooser(List.of(new Candidate("/r", 1)));
    assertThat(chooser.next(List.of("/r", "/r"), s -> true, s -> 1, () -> 0.5)).hasValue(0);
    assertThat(chooser.next(List.of("/r"), s -> true, s -> 1, () -> 0.5)).hasValue(0);
  }

  @Test
  void theOnlyServerThatFitsIsFoundAndNoneIfNoneFits() {
    ReplicaServerChooser chooser = chooser(1_000, 20);
    for (int round = 0; round < 100; round++) {
      int only = random.nextInt(1_000);
      List<String> racks = List.of("/rack-1", "/rack-2").subList(0, random.nextInt(3));
      assertThat(chooser.next(racks, s -> s == only, s -> 1, random::nextDouble))
          .as("seed %d", seed)
          .hasValue(only);
      assertThat(chooser.next(racks, s -> false, s -> 1, random::nextDouble)).isEmpty();
    }
    assertThat(new ReplicaServerChooser(List.of()).next(List.of(), s -> true, s -> 1, () -> 0))
        .isEmpty();
  }

  /** A draw that is repeated gives what a draw among the servers that fit gives. */
  @Test
  void eachServerThatFitsHasTheChanceOfItsFreeSpace() {
    ReplicaServerChooser chooser =
        new ReplicaServerChooser(
            List.of(
                new Candidate("/r", 1e12), new Candidate("/r", 2e12), new Candidate("/r", 5e12)));
    int second = 0;
    for (int round = 0; round < 20_000; round++) {
      second += chooser.next(List.of(), s -> s != 2, s -> 1, random::nextDouble).orElseThrow();
    }
    assertThat(second / 20_000.0).as("seed %d", seed).isBetween(0.65, 0.69);
  }

  @Test
  void aChoiceLooksAtFewServersHoweverManyThereAre() {
    int[] looked = {0};
    ReplicaServerChooser chooser = chooser(10_000, 50);
    Set<Integer> taken = new HashSet<>();
    List<String> racks = new ArrayList<>();
    for (int replica = 0; replica < 3; replica++) {
      int next =
          chooser
              .next(
                  racks,
                  s -> {
                    looked[0]++;
                    return !taken.contains(s);
                  },
                  s -> 1,
                  random::nextDouble)
              .orElseThrow();
      taken.add(next);
      racks.add("/rack-" + next % 50);
    }
    assertThat(looked[0]).as("seed %d", seed).isLessThan(20);
  }
}
