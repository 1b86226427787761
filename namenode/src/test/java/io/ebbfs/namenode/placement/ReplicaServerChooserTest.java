package io.ebbfs.namenode.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.placement.ReplicaServerChooser.Candidate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReplicaServerChooserTest {
  @Test
  void pipelinesUseTwoRacksAndBigServersMore() {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    Random random = new Random(seed);
    int[] chosen = new int[8];
    for (int round = 0; round < 2_000; round++) {
      List<Candidate> candidates = new ArrayList<>();
      for (int s = 0; s < 8; s++) {
        candidates.add(new Candidate("" + s, "/rack-" + s % 3, s < 4 ? 1e12 : 3e12, 1));
      }
      List<String> racks = new ArrayList<>();
      for (int replica = 0; replica < 3; replica++) {
        Candidate next = ReplicaServerChooser.next(candidates, racks, random::nextDouble);
        candidates.remove(next);
        racks.add(next.rack());
        chosen[Integer.parseInt(next.serverUuid())]++;
      }
      assertThat(racks.get(1)).as("seed %d", seed).isNotEqualTo(racks.get(0));
      assertThat(racks.get(2)).as("seed %d", seed).isEqualTo(racks.get(1));
    }
    int small = chosen[0] + chosen[1] + chosen[2] + chosen[3];
    assertThat(6_000 - small).as("seed %d", seed).isGreaterThan((int) (1.5 * small));
  }

  @Test
  void oneRackIsNoObstacle() {
    List<Candidate> candidates = List.of(new Candidate("a", "/r", 1, 1));
    assertThat(ReplicaServerChooser.next(candidates, List.of("/r", "/r"), () -> 0.5).serverUuid())
        .isEqualTo("a");
  }
}
