package io.ebbfs.namespace.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StripePlacementTest {
  private static Placement placed(PlacementResult result) {
    assertThat(result).isInstanceOf(Placement.class);
    return (Placement) result;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(10,4)"})
  void anyServerMayBeLostFromSixServersToForty(String name) {
    ErasureCode code = Codes.byName(name);
    for (long seed = 1; seed <= 70; seed++) {
      Random random = new Random(seed);
      int servers = 6 + random.nextInt(35);
      int disksPerServer = Math.max(1 + random.nextInt(8), (42 + servers - 1) / servers + 1);
      try {
        List<Disk> disks = Clusters.cluster(servers, disksPerServer, random);
        StripeGroup group = Clusters.fullGroup(code, disks, random);
        checked(group, disks, seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(name + ", " + servers + " servers, seed " + seed, e);
      }
    }
  }

  /** Where blocks of equal length may take any position, so that it can be had. */
  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)"})
  void hardlyAnyServerHoldsTwoBlocksOfARepairGroup(String name) {
    ErasureCode code = Codes.byName(name);
    RepairGroups groups = RepairGroups.of(code);
    int crowded = 0;
    int blocks = 0;
    for (long seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      List<Disk> disks = Clusters.cluster(11, 6, random);
      Placement placement = checked(Clusters.fullGroup(code, disks, random), disks, seed);
      for (SortedMap<Integer, Disk> at : placement.disks()) {
        Map<String, Long> masks = new HashMap<>();
        at.forEach((position, disk) -> masks.merge(disk.serverUuid(), 1L << position, Long::sum));
        for (Map.Entry<Integer, Disk> block : at.entrySet()) {
          crowded += groups.among(masks.get(block.getValue().serverUuid()), block.getKey());
          blocks++;
        }
      }
    }
    assertThat((double) crowded / blocks).as(name).isLessThan(0.03);
  }

  @Test
  void holesAndShortGroupsKeepTheRulesToo() {
    for (long seed = 1; seed <= 150; seed++) {
      Random random = new Random(seed);
      try {
        List<ErasureCode> codes = Codes.known();
        ErasureCode code = codes.get(random.nextInt(codes.size()));
        List<Disk> disks = Clusters.cluster(7 + random.nextInt(10), 7, random);
        int blocks = 1 + random.nextInt(40);
        List<StripeBlock> some = new ArrayList<>();
        for (int b = 0; b < blocks; b++) {
          some.add(Clusters.block(b, 1 + random.nextInt(1000), disks, random));
        }
        for (StripeGroup group : Packing.pack(code, some, 9).groups()) {
          checked(group, disks, seed);
        }
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /** Places a group and checks every rule by the definition. */
  private static Placement checked(StripeGroup group, List<Disk> disks, long seed) {
    Placement placement = placed(StripePlacement.place(group, disks, seed));
    ErasureCode code = group.code();
    for (int s = 0; s < group.stripes().size(); s++) {
      SortedMap<Integer, Disk> at = placement.disks().get(s);
      assertThat(at.keySet()).isEqualTo(code.occupied(group.stripes().get(s).keySet()));
      ruled(code, at);
      for (int position : group.stripes().get(s).keySet()) {
        boolean stays =
            placement
                .stripes()
                .get(s)
                .get(position)
                .replicas()
                .contains(at.get(position).storageUuid());
        assertThat(placement.moves().contains(new BlockRef(s, position))).isEqualTo(!stays);
      }
    }
    assertThat(placement.survivesAnyServer()).isTrue();
    assertThat(blocks(placement.stripes()))
        .containsExactlyInAnyOrderElementsOf(blocks(group.stripes()));
    mergedStripe(group, placement).ifPresent(merged -> ruled(compactOf(code), merged));
    return placement;
  }

  private static List<StripeBlock> blocks(List<SortedMap<Integer, StripeBlock>> stripes) {
    return stripes.stream().flatMap(stripe -> stripe.values().stream()).toList();
  }

  private static void ruled(ErasureCode code, Map<Integer, Disk> at) {
    assertThat(at.values().stream().map(Disk::storageUuid).distinct()).hasSameSizeAs(at.values());
    Map<String, List<Integer>> onServer =
        at.keySet().stream().collect(Collectors.groupingBy(p -> at.get(p).serverUuid()));
    onServer.forEach(
        (server, positions) ->
            assertThat(code.decodes(positions)).as("%s without %s", code, server).isTrue());
  }

  private static ErasureCode compactOf(ErasureCode code) {
    return Codes.familyOf(code.name()).orElseThrow().compactCode();
  }

  /** What a merge keeps in place. */
  private static Optional<Map<Integer, Disk>> mergedStripe(StripeGroup group, Placement placement) {
    Optional<CodeFamily> family = Codes.familyOf(group.code().name());
    if (family.isEmpty() || !family.get().fast().equals(group.code().name())) {
      return Optional.empty();
    }
    Map<Integer, Disk> merged = new HashMap<>();
    for (Conversion.Kept kept : upcode(group).kept()) {
      merged.put(
          kept.after().position(),
          placement.disk(kept.before().stripe(), kept.before().position()));
    }
    return Optional.of(merged);
  }

  private static Conversion upcode(StripeGroup group) {
    return Planner.upcode(
        group.code(),
        compactOf(group.code()),
        group.stripes().stream().map(SortedMap::keySet).toList(),
        Set.of());
  }

  @Test
  void twelveServersOfSixDisksNeedHardlyAnyMoveAndSurviveAnyTwo() {
    int groups = 60;
    for (String name : List.of("PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)")) {
      int moves = 0;
      int weak = 0;
      for (long seed = 1; seed <= groups; seed++) {
        Random random = new Random(seed);
        List<Disk> disks = Clusters.cluster(12, 6, random);
        Placement placement =
            checked(Clusters.fullGroup(Codes.byName(name), disks, random), disks, seed);
        moves += placement.moves().size();
        weak += placement.weakServerPairs();
      }
      assertThat(moves).as("moves of %s", name).isLessThanOrEqualTo(groups / 6);
      assertThat(weak).as("weak pairs of %s", name).isZero();
    }
  }

  @Test
  void replicasThatDoNotFitAreMoved() {
    Random random = new Random(5);
    List<Disk> disks = Clusters.cluster(8, 6, random);
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
    for (int d = 0; d < 12; d++) {
      stripe.put(d, new StripeBlock(d, 100, 1, d, List.of("disk-0-0", "disk-1-0")));
    }
    Placement placement = checked(new StripeGroup(code, List.of(stripe)), disks, 5);
    assertThat(placement.moves()).hasSize(10);
    placement
        .moves()
        .forEach(
            move ->
                assertThat(placement.disk(0, move.position()).serverUuid())
                    .isNotIn("server-0", "server-1"));
  }

  @Test
  void tooFewServersAreRefusedWithTheNumberNeeded() {
    Random random = new Random(6);
    List<Disk> disks = Clusters.cluster(3, 20, random);
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    PlacementResult result =
        StripePlacement.place(Clusters.fullGroup(code, disks, random), disks, 6);
    assertThat(result).isInstanceOf(Refusal.class);
    assertThat(((Refusal) result).reason())
        .contains("LRC(12,2,2) needs " + MinimumServers.of(code) + " failure domains")
        .contains("the cluster has 3");
    List<Disk> few = Clusters.cluster(12, 1, random);
    PlacementResult fewDisks =
        StripePlacement.place(Clusters.fullGroup(Codes.byName("PC(6x5)"), few, random), few, 6);
    assertThat(((Refusal) fewDisks).reason()).contains("needs 42 disks").contains("12");
  }

  @Test
  void fastStripesThatCannotMergeHereArePlacedAndTheReportSaysSo() {
    Random random = new Random(7);
    List<Disk> disks = Clusters.cluster(6, 4, random);
    Placement placement =
        placed(
            StripePlacement.place(
                Clusters.fullGroup(Codes.byName("PC(2x5)"), disks, random), disks, 7));
    assertThat(placement.survivesAnyServer()).isTrue();
    assertThat(placement.compromises()).hasSize(1);
    assertThat(placement.compromises().get(0)).contains("PC(6x5)").contains("42 disks");
  }

  @Test
  void minimumServersSurviveByDefinition() {
    assertThat(MinimumServers.of(Codes.byName("RS(6,3)"))).isEqualTo(3);
    assertThat(MinimumServers.of(Codes.byName("RS(10,4)"))).isEqualTo(4);
    assertThat(MinimumServers.of(Codes.byName("PC(2x5)"))).isBetween(3, 4);
    assertThat(MinimumServers.of(Codes.byName("PC(6x5)"))).isBetween(4, 6);
  }

  @Test
  void fullDisksGetNothingNew() {
    Random random = new Random(8);
    List<Disk> disks = new ArrayList<>();
    for (Disk disk : Clusters.cluster(12, 6, random)) {
      boolean full = disk.storageUuid().endsWith("-0");
      disks.add(
          new Disk(
              disk.storageUuid(), disk.serverUuid(), "/r", 1L << 41, full ? 10 : 1L << 40, 0.0));
    }
    StripeGroup group = Clusters.fullGroup(Codes.byName("LRC(12,6,2)"), disks, random);
    Placement placement = checked(group, disks, 8);
    placement
        .disks()
        .get(0)
        .forEach(
            (position, disk) -> {
              if (position >= 12 || placement.moves().contains(new BlockRef(0, position))) {
                assertThat(disk.storageUuid()).doesNotEndWith("-0");
              }
            });
  }

  @Test
  void equalSeedsGiveEqualPlacements() {
    Random random = new Random(9);
    List<Disk> disks = Clusters.cluster(12, 6, random);
    StripeGroup group = Clusters.fullGroup(Codes.byName("PC(2x5)"), disks, random);
    assertThat(StripePlacement.place(group, disks, 3))
        .isEqualTo(StripePlacement.place(group, disks, 3))
        .isNotEqualTo(StripePlacement.place(group, disks, 4));
  }

  @Test
  void parityBytesSpreadByFreeSpace() {
    long seed = 10;
    Random random = new Random(seed);
    Map<String, Long> free = new HashMap<>();
    List<Disk> disks = Clusters.cluster(12, 6, random);
    disks.forEach(disk -> free.put(disk.storageUuid(), 1000L));
    int placedParities = 0;
    for (int round = 0; round < 150; round++) {
      List<Disk> now =
          disks.stream()
              .map(
                  d ->
                      new Disk(
                          d.storageUuid(),
                          d.serverUuid(),
                          "/r",
                          1000L << 20,
                          free.get(d.storageUuid()) << 20,
                          0.0))
              .toList();
      StripeGroup group = Clusters.fullGroup(Codes.byName("LRC(12,6,2)"), now, random);
      Placement placement = placed(StripePlacement.place(group, now, seed + round));
      for (int p = 12; p < 20; p++) {
        free.merge(placement.disk(0, p).storageUuid(), -1L, Long::sum);
        placedParities++;
      }
    }
    double mean = placedParities / 72.0;
    free.forEach(
        (disk, left) ->
            assertThat(1000.0 - left)
                .as("seed %d, %s", seed, disk)
                .isBetween(mean * 0.3, mean * 1.8));
  }

  // ---- placing what is missing -----------------------------------------------------------------

  @Test
  void repairedBlocksKeepTheRules() {
    for (long seed = 1; seed <= 150; seed++) {
      Random random = new Random(seed);
      try {
        repairedBlocksKeepTheRules(random, seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void repairedBlocksKeepTheRules(Random random, long seed) {
    List<ErasureCode> codes = Codes.known();
    ErasureCode code = codes.get(random.nextInt(codes.size()));
    List<Disk> disks = Clusters.cluster(10 + random.nextInt(10), 7, random);
    StripeGroup group = Clusters.fullGroup(code, disks, random);
    Placement placement = checked(group, disks, seed);
    String dead = disks.get(random.nextInt(disks.size())).serverUuid();
    List<Map<Integer, Disk>> members = new ArrayList<>();
    List<Set<Integer>> missing = new ArrayList<>();
    for (SortedMap<Integer, Disk> stripe : placement.disks()) {
      Map<Integer, Disk> left = new TreeMap<>(stripe);
      left.values().removeIf(disk -> disk.serverUuid().equals(dead));
      Set<Integer> lost = new HashSet<>(stripe.keySet());
      lost.removeAll(left.keySet());
      members.add(left);
      missing.add(lost);
    }
    List<Disk> alive = disks.stream().filter(d -> !d.serverUuid().equals(dead)).toList();
    Placement repaired =
        placed(StripePlacement.placeMissing(code, members, missing, 1 << 20, alive, seed));
    assertThat(repaired.compromises()).isEmpty();
    for (int s = 0; s < members.size(); s++) {
      assertThat(repaired.disks().get(s).keySet()).isEqualTo(missing.get(s));
      Map<Integer, Disk> whole = new TreeMap<>(members.get(s));
      whole.putAll(repaired.disks().get(s));
      ruled(code, whole);
      assertThat(whole.values()).allMatch(alive::contains);
    }
  }

  @Test
  void conversionsThereAndBackKeepTheRules() {
    for (String name : List.of("product", "lrc", "rs")) {
      for (long seed = 1; seed <= 40; seed++) {
        Random random = new Random(seed);
        try {
          conversionsKeepTheRules(Codes.family(name), random, seed);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError(name + ", seed " + seed, e);
        }
      }
    }
  }

  private static void conversionsKeepTheRules(CodeFamily family, Random random, long seed) {
    List<Disk> disks = Clusters.cluster(12, 6, random);
    StripeGroup group = Clusters.fullGroup(family.fastCode(), disks, random);
    Placement placement = checked(group, disks, seed);
    Conversion up = upcode(group);
    List<Map<Integer, Disk>> merged = converted(up, placement.disks(), 1, disks, seed);
    ruled(family.compactCode(), merged.get(0));
    Conversion down =
        Planner.downcode(family.compactCode(), family.fastCode(), merged.get(0).keySet(), Set.of());
    List<Map<Integer, Disk>> again = converted(down, merged, family.groupSize(), disks, seed);
    again.forEach(stripe -> ruled(family.fastCode(), stripe));
  }

  private static List<Map<Integer, Disk>> converted(
      Conversion conversion,
      List<? extends Map<Integer, Disk>> before,
      int stripesAfter,
      List<Disk> disks,
      long seed) {
    List<Map<Integer, Disk>> after = new ArrayList<>();
    List<Set<Integer>> missing = new ArrayList<>();
    for (int s = 0; s < stripesAfter; s++) {
      after.add(new TreeMap<>());
      missing.add(new HashSet<>());
    }
    conversion
        .kept()
        .forEach(
            kept ->
                after
                    .get(kept.after().stripe())
                    .put(
                        kept.after().position(),
                        before.get(kept.before().stripe()).get(kept.before().position())));
    conversion.outputs().forEach(ref -> missing.get(ref.stripe()).add(ref.position()));
    Placement placement =
        placed(StripePlacement.placeMissing(conversion.to(), after, missing, 1 << 20, disks, seed));
    assertThat(placement.compromises()).isEmpty();
    for (int s = 0; s < stripesAfter; s++) {
      after.get(s).putAll(placement.disks().get(s));
    }
    return after;
  }

  @Test
  void aRepairedBlockSomewhereIsBetterThanNone() {
    Random random = new Random(11);
    List<Disk> disks = Clusters.cluster(6, 6, random);
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    Placement placement = checked(Clusters.fullGroup(code, disks, random), disks, 11);
    Map<Integer, Disk> members = new TreeMap<>(placement.disks().get(0));
    Disk only = members.remove(3);
    Disk shared = members.get(0);
    Placement forced =
        placed(
            StripePlacement.placeMissing(
                code, List.of(members), List.of(Set.of(3)), 100, List.of(shared), 11));
    assertThat(forced.disk(0, 3)).isEqualTo(shared);
    assertThat(forced.compromises()).hasSize(1);
    assertThat(forced.keepsRules()).isFalse();
    assertThat(forced.compromises().get(0)).contains("D3").contains("shares a disk");
    PlacementResult none =
        StripePlacement.placeMissing(
            code, List.of(members), List.of(Set.of(3)), Long.MAX_VALUE, List.of(only), 11);
    assertThat(((Refusal) none).reason()).contains("bytes free");
  }
}
