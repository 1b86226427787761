package io.ebbfs.namenode.placement.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.placement.Clusters;
import io.ebbfs.namenode.placement.PlacementDisk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RePlacementPlannerTest {
  private static final CodeRegistry CODES = CodeRegistry.builtIn();

  /**
   * So a scan of many stripes looks at the whole cluster once, and at few disks for each stripe.
   */
  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "RS(6,3)"})
  void violationsDependOnTheStripesOwnDisksAndTheRulesOfTheCluster(String name) {
    ErasureCode code = Codes.byName(name);
    int broken = 0;
    int kept = 0;
    for (long seed = 1; seed <= 150; seed++) {
      Random random = new Random(seed);
      List<PlacementDisk> disks = Clusters.cluster(3 + random.nextInt(40), 4, random);
      RePlacementPlanner.Rules rules =
          RePlacementPlanner.Rules.of(code, CODES.mergesInto(code), disks);
      List<Map<Integer, PlacementDisk>> group = randomGroup(code, rules, disks, random);
      int slot = random.nextInt(group.size());
      int whole = violations(code, rules, group, slot, disks);
      assertThat(violations(code, rules, group, slot, List.of()))
          .as("seed %d", seed)
          .isEqualTo(whole);
      broken += whole > 0 ? 1 : 0;
      kept += whole == 0 ? 1 : 0;
    }
    assertThat(broken).isPositive();
    assertThat(kept).isPositive();
  }

  private static int violations(
      ErasureCode code,
      RePlacementPlanner.Rules rules,
      List<Map<Integer, PlacementDisk>> group,
      int slot,
      List<PlacementDisk> disks) {
    return new RePlacementPlanner(code, rules, group, slot, 1, disks, new Random(0)).violations();
  }

  /** On consecutive disks, so that the blocks are spread, and some of them moved anywhere. */
  private static List<Map<Integer, PlacementDisk>> randomGroup(
      ErasureCode code, RePlacementPlanner.Rules rules, List<PlacementDisk> disks, Random random) {
    int slots = rules.compact().map(to -> to.dataCount() / code.dataCount()).orElse(1);
    List<List<PlacementDisk>> byServer = new ArrayList<>();
    disks.stream()
        .collect(
            Collectors.groupingBy(PlacementDisk::serverUuid, TreeMap::new, Collectors.toList()))
        .values()
        .forEach(byServer::add);
    int moved = random.nextInt(3);
    int next = random.nextInt(disks.size());
    List<Map<Integer, PlacementDisk>> group = new ArrayList<>();
    for (int slot = 0; slot < slots; slot++) {
      Map<Integer, PlacementDisk> stripe = new TreeMap<>();
      for (int position = 0; position < code.size(); position++) {
        List<PlacementDisk> server = byServer.get(next % byServer.size());
        stripe.put(position, server.get(next / byServer.size() % server.size()));
        next++;
      }
      for (int i = 0; i < moved; i++) {
        stripe.put(random.nextInt(code.size()), disks.get(random.nextInt(disks.size())));
      }
      group.add(stripe);
    }
    return group;
  }
}
