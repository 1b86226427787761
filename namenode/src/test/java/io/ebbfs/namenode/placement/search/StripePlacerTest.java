package io.ebbfs.namenode.placement.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.placement.Clusters;
import io.ebbfs.namenode.placement.Packing;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.PlacementResult;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.placement.TargetGrade;
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
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StripePlacerTest {
  private static final CodeRegistry CODES = CodeRegistry.builtIn();

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
        List<PlacementDisk> disks = Clusters.cluster(servers, disksPerServer, random);
        StripeGroup group = Clusters.fullGroup(code, disks, random);
        checked(group, disks, seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(name + ", " + servers + " servers, seed " + seed, e);
      }
    }
  }

  /** Blocks of equal length may swap positions, so the rule can be kept without moves. */
  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)"})
  void hardlyAnyServerHoldsTwoBlocksOfARepairGroup(String name) {
    ErasureCode code = Codes.byName(name);
    RepairGroups groups = RepairGroups.of(code);
    int crowded = 0;
    int blocks = 0;
    for (long seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      List<PlacementDisk> disks = Clusters.cluster(11, 6, random);
      Placement placement = checked(Clusters.fullGroup(code, disks, random), disks, seed);
      for (SortedMap<Integer, PlacementDisk> at : placement.disks()) {
        Map<String, Long> masks = new HashMap<>();
        at.forEach((position, disk) -> masks.merge(disk.serverUuid(), 1L << position, Long::sum));
        for (Map.Entry<Integer, PlacementDisk> block : at.entrySet()) {
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
        List<ErasureCode> codes = Codes.builtIn();
        ErasureCode code = codes.get(random.nextInt(codes.size()));
        List<PlacementDisk> disks = Clusters.cluster(7 + random.nextInt(10), 7, random);
        int blocks = 1 + random.nextInt(40);
        List<StripeBlock> some = new ArrayList<>();
        for (int b = 0; b < blocks; b++) {
          some.add(Clusters.block(b, 1 + random.nextInt(1000), disks, random));
        }
        for (StripeGroup group : Packing.pack(code, CODES.mergesInto(code), some, 9).groups()) {
          checked(group, disks, seed);
        }
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /** Places a group and checks every rule by the definition. */
  private static Placement checked(StripeGroup group, List<PlacementDisk> disks, long seed) {
    Placement placement = placed(StripePlacer.place(group, disks, seed));
    ErasureCode code = group.code();
    for (int s = 0; s < group.stripes().size(); s++) {
      SortedMap<Integer, PlacementDisk> at = placement.disks().get(s);
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

  private static void ruled(ErasureCode code, Map<Integer, PlacementDisk> at) {
    assertThat(at.values().stream().map(PlacementDisk::storageUuid).distinct())
        .hasSameSizeAs(at.values());
    Map<String, List<Integer>> onServer =
        at.keySet().stream().collect(Collectors.groupingBy(p -> at.get(p).serverUuid()));
    onServer.forEach(
        (server, positions) ->
            assertThat(code.decodes(positions)).as("%s without %s", code, server).isTrue());
  }

  private static ErasureCode compactOf(ErasureCode code) {
    return CODES.familyOf(code.name()).orElseThrow().compactCode();
  }

  /** The blocks that a merge keeps in place. */
  private static Optional<Map<Integer, PlacementDisk>> mergedStripe(
      StripeGroup group, Placement placement) {
    Optional<CodeFamily> family = CODES.familyOf(group.code().name());
    if (family.isEmpty() || !family.get().fast().equals(group.code().name())) {
      return Optional.empty();
    }
    Map<Integer, PlacementDisk> merged = new HashMap<>();
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
      int fatal = 0;
      for (long seed = 1; seed <= groups; seed++) {
        Random random = new Random(seed);
        List<PlacementDisk> disks = Clusters.cluster(12, 6, random);
        Placement placement =
            checked(Clusters.fullGroup(Codes.byName(name), disks, random), disks, seed);
        moves += placement.moves().size();
        fatal += placement.fatalServerPairs();
      }
      assertThat(moves).as("moves of %s", name).isLessThanOrEqualTo(groups / 6);
      assertThat(fatal).as("fatal pairs of %s", name).isZero();
    }
  }

  @Test
  void replicasThatDoNotFitAreMoved() {
    Random random = new Random(5);
    List<PlacementDisk> disks = Clusters.cluster(8, 6, random);
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
    for (int d = 0; d < 12; d++) {
      stripe.put(d, new StripeBlock(d, 100, 1, d, List.of("disk-0-0", "disk-1-0")));
    }
    Placement placement =
        checked(new StripeGroup(code, List.of(stripe), Optional.empty()), disks, 5);
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
    List<PlacementDisk> disks = Clusters.cluster(3, 20, random);
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    PlacementResult result = StripePlacer.place(Clusters.fullGroup(code, disks, random), disks, 6);
    assertThat(result).isInstanceOf(PlacementRefusal.class);
    assertThat(((PlacementRefusal) result).reason())
        .contains("LRC(12,2,2) needs " + MinimumServers.of(code) + " failure domains")
        .contains("the cluster has 3");
    List<PlacementDisk> few = Clusters.cluster(12, 1, random);
    PlacementResult fewDisks =
        StripePlacer.place(Clusters.fullGroup(Codes.byName("PC(6x5)"), few, random), few, 6);
    assertThat(((PlacementRefusal) fewDisks).reason()).contains("needs 42 disks").contains("12");
  }

  @Test
  void fastStripesThatCannotMergeHereArePlacedAndTheReportSaysSo() {
    Random random = new Random(7);
    List<PlacementDisk> disks = Clusters.cluster(6, 4, random);
    Placement placement =
        placed(
            StripePlacer.place(
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
    List<PlacementDisk> disks = new ArrayList<>();
    for (PlacementDisk disk : Clusters.cluster(12, 6, random)) {
      boolean full = disk.storageUuid().endsWith("-0");
      disks.add(
          new PlacementDisk(
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

  private static List<PlacementDisk> graded(
      List<PlacementDisk> disks, Function<PlacementDisk, TargetGrade> grade) {
    return disks.stream()
        .map(
            disk ->
                new PlacementDisk(
                    disk.storageUuid(),
                    disk.serverUuid(),
                    disk.rack(),
                    disk.capacityBytes(),
                    disk.freeBytes(),
                    disk.load(),
                    disk.leaving(),
                    grade.apply(disk)))
        .toList();
  }

  @Test
  void newBlocksOfAGroupGoToGoodDisks() {
    for (long seed = 1; seed <= 30; seed++) {
      Random random = new Random(seed);
      TargetGrade[] grades = TargetGrade.values();
      List<PlacementDisk> disks =
          graded(
              Clusters.cluster(14, 6, random),
              disk -> random.nextInt(3) > 0 ? TargetGrade.GOOD : grades[random.nextInt(4)]);
      StripeGroup group = Clusters.fullGroup(Codes.byName("LRC(12,6,2)"), disks, random);
      Placement placement = checked(group, disks, seed);
      for (Map.Entry<Integer, PlacementDisk> block : placement.disks().get(0).entrySet()) {
        boolean isNew =
            block.getKey() >= 12 || placement.moves().contains(new BlockRef(0, block.getKey()));
        if (isNew) {
          assertThat(block.getValue().grade())
              .as("seed %d, position %d", seed, block.getKey())
              .isEqualTo(TargetGrade.GOOD);
        }
      }
    }
  }

  @Test
  void aGroupIsPlacedOnBadDisksIfThereAreNoOthers() {
    Random random = new Random(8);
    List<PlacementDisk> good = Clusters.cluster(12, 6, random);
    StripeGroup group = Clusters.fullGroup(Codes.byName("LRC(12,6,2)"), good, random);
    for (TargetGrade grade : TargetGrade.values()) {
      checked(group, graded(good, disk -> grade), 8);
    }
  }

  @Test
  void equalSeedsGiveEqualPlacements() {
    Random random = new Random(9);
    List<PlacementDisk> disks = Clusters.cluster(12, 6, random);
    StripeGroup group = Clusters.fullGroup(Codes.byName("PC(2x5)"), disks, random);
    assertThat(StripePlacer.place(group, disks, 3))
        .isEqualTo(StripePlacer.place(group, disks, 3))
        .isNotEqualTo(StripePlacer.place(group, disks, 4));
  }

  @Test
  void parityBytesSpreadByFreeSpace() {
    long seed = 10;
    Random random = new Random(seed);
    Map<String, Long> free = new HashMap<>();
    List<PlacementDisk> disks = Clusters.cluster(12, 6, random);
    disks.forEach(disk -> free.put(disk.storageUuid(), 1000L));
    int placedParities = 0;
    for (int round = 0; round < 150; round++) {
      List<PlacementDisk> now =
          disks.stream()
              .map(
                  d ->
                      new PlacementDisk(
                          d.storageUuid(),
                          d.serverUuid(),
                          "/r",
                          1000L << 20,
                          free.get(d.storageUuid()) << 20,
                          0.0))
              .toList();
      StripeGroup group = Clusters.fullGroup(Codes.byName("LRC(12,6,2)"), now, random);
      Placement placement = placed(StripePlacer.place(group, now, seed + round));
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

  // ---- placing missing blocks -------------------------------------------------------------------

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
    List<ErasureCode> codes = Codes.builtIn();
    ErasureCode code = codes.get(random.nextInt(codes.size()));
    List<PlacementDisk> disks = Clusters.cluster(10 + random.nextInt(10), 7, random);
    StripeGroup group = Clusters.fullGroup(code, disks, random);
    Placement placement = checked(group, disks, seed);
    String dead = disks.get(random.nextInt(disks.size())).serverUuid();
    List<Map<Integer, PlacementDisk>> members = new ArrayList<>();
    List<Set<Integer>> missing = new ArrayList<>();
    for (SortedMap<Integer, PlacementDisk> stripe : placement.disks()) {
      Map<Integer, PlacementDisk> left = new TreeMap<>(stripe);
      left.values().removeIf(disk -> disk.serverUuid().equals(dead));
      Set<Integer> lost = new HashSet<>(stripe.keySet());
      lost.removeAll(left.keySet());
      members.add(left);
      missing.add(lost);
    }
    List<PlacementDisk> alive = disks.stream().filter(d -> !d.serverUuid().equals(dead)).toList();
    Placement repaired =
        placed(
            StripePlacer.placeMissing(
                code, CODES.mergesInto(code), members, missing, 1 << 20, alive, seed));
    assertThat(repaired.compromises()).isEmpty();
    for (int s = 0; s < members.size(); s++) {
      assertThat(repaired.disks().get(s).keySet()).isEqualTo(missing.get(s));
      Map<Integer, PlacementDisk> whole = new TreeMap<>(members.get(s));
      whole.putAll(repaired.disks().get(s));
      ruled(code, whole);
      assertThat(whole.values()).allMatch(alive::contains);
    }
  }

  /** A place for the last block of a stripe whose other blocks are on the first 13 disks. */
  private static Placement repaired(List<PlacementDisk> disks) {
    ErasureCode code = Codes.byName("RS(10,4)");
    Map<Integer, PlacementDisk> members = new TreeMap<>();
    for (int position = 0; position < 13; position++) {
      members.put(position, disks.get(position));
    }
    return placed(
        StripePlacer.placeMissing(
            code, Optional.empty(), List.of(members), List.of(Set.of(13)), 1 << 20, disks, 1));
  }

  /** All good disks have a block of the stripe. */
  @Test
  void aRuleCountsMoreThanTheGradeOfADisk() {
    List<PlacementDisk> all = Clusters.cluster(16, 1, new Random(4));
    List<TargetGrade> grades = List.of(TargetGrade.ERRING, TargetGrade.FULL, TargetGrade.BUSY);
    for (int servers = 14; servers <= 16; servers++) {
      List<PlacementDisk> disks =
          graded(
              all.subList(0, servers),
              disk -> {
                int number = all.indexOf(disk);
                return number < 13 ? TargetGrade.GOOD : grades.get(number - 13);
              });
      Placement placement = repaired(disks);
      assertThat(placement.compromises()).isEmpty();
      assertThat(placement.disk(0, 13)).as("the least bad").isEqualTo(disks.get(servers - 1));
    }
  }

  @Test
  void aPoorPlaceIsOnAGoodDisk() {
    List<PlacementDisk> disks = Clusters.cluster(13, 1, new Random(4));
    List<PlacementDisk> one =
        graded(disks, disk -> disk == disks.get(5) ? TargetGrade.GOOD : TargetGrade.BUSY);
    Placement placement = repaired(one);
    assertThat(placement.keepsRules()).isFalse();
    assertThat(placement.disk(0, 13)).isEqualTo(one.get(5));
  }

  @Test
  void conversionsThereAndBackKeepTheRules() {
    for (String name : List.of("product", "lrc", "rs")) {
      for (long seed = 1; seed <= 40; seed++) {
        Random random = new Random(seed);
        try {
          conversionsKeepTheRules(CODES.family(name), random, seed);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError(name + ", seed " + seed, e);
        }
      }
    }
  }

  private static void conversionsKeepTheRules(CodeFamily family, Random random, long seed) {
    List<PlacementDisk> disks = Clusters.cluster(12, 6, random);
    StripeGroup group = Clusters.fullGroup(family.fastCode(), disks, random);
    Placement placement = checked(group, disks, seed);
    Conversion up = upcode(group);
    List<Map<Integer, PlacementDisk>> merged = converted(up, placement.disks(), 1, disks, seed);
    ruled(family.compactCode(), merged.get(0));
    Conversion down =
        Planner.downcode(family.compactCode(), family.fastCode(), merged.get(0).keySet(), Set.of());
    List<Map<Integer, PlacementDisk>> again =
        converted(down, merged, family.groupSize(), disks, seed);
    again.forEach(stripe -> ruled(family.fastCode(), stripe));
  }

  private static List<Map<Integer, PlacementDisk>> converted(
      Conversion conversion,
      List<? extends Map<Integer, PlacementDisk>> before,
      int stripesAfter,
      List<PlacementDisk> disks,
      long seed) {
    List<Map<Integer, PlacementDisk>> after = new ArrayList<>();
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
        placed(
            StripePlacer.placeMissing(
                conversion.to(),
                CODES.mergesInto(conversion.to()),
                after,
                missing,
                1 << 20,
                disks,
                seed));
    assertThat(placement.compromises()).isEmpty();
    for (int s = 0; s < stripesAfter; s++) {
      after.get(s).putAll(placement.disks().get(s));
    }
    return after;
  }

  @Test
  void aRepairedBlockSomewhereIsBetterThanNone() {
    Random random = new Random(11);
    List<PlacementDisk> disks = Clusters.cluster(6, 6, random);
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    Placement placement = checked(Clusters.fullGroup(code, disks, random), disks, 11);
    Map<Integer, PlacementDisk> members = new TreeMap<>(placement.disks().get(0));
    PlacementDisk only = members.remove(3);
    PlacementDisk shared = members.get(0);
    Placement forced =
        placed(
            StripePlacer.placeMissing(
                code,
                Optional.empty(),
                List.of(members),
                List.of(Set.of(3)),
                100,
                List.of(shared),
                11));
    assertThat(forced.disk(0, 3)).isEqualTo(shared);
    assertThat(forced.compromises()).hasSize(1);
    assertThat(forced.keepsRules()).isFalse();
    assertThat(forced.compromises().get(0)).contains("D3").contains("shares a disk");
    PlacementResult none =
        StripePlacer.placeMissing(
            code,
            Optional.empty(),
            List.of(members),
            List.of(Set.of(3)),
            Long.MAX_VALUE,
            List.of(only),
            11);
    assertThat(((PlacementRefusal) none).reason()).contains("bytes free");
  }
}
