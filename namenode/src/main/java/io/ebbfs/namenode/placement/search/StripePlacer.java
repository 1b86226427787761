package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.PlacementResult;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.placement.TargetGrade;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * Chooses the disks for the blocks of stripes. The rules, in order:
 *
 * <ol>
 *   <li>No two blocks of a stripe share a disk.
 *   <li>The stripe survives the loss of any one server, and of any one rack if there are enough
 *       racks. The code itself tells what it survives.
 *   <li>Both hold for the merged stripe, too, if the stripes may merge into a compact one.
 *   <li>The stripe survives the loss of any two servers, if the code and the number of servers
 *       allow it.
 *   <li>No new block goes to a disk that is not {@link TargetGrade#GOOD}; the least bad disks are
 *       taken first.
 * </ol>
 *
 * <p>Pure functions; random ties come from the seed.
 */
public final class StripePlacer {
  private static final int RACK_TRIES = 12;

  /** Orders placements by the rules that they break, the best first. */
  private static final Comparator<Placement> BY_RULES =
      Comparator.comparing((Placement placement) -> !placement.keepsRules())
          .thenComparing(placement -> !placement.survivesAnyServer())
          .thenComparing(placement -> !placement.fatalRacks().isEmpty())
          .thenComparing(placement -> placement.compromises().size())
          .thenComparing(placement -> placement.fatalServerPairs() > 0);

  private StripePlacer() {}

  /**
   * Disks for a new group: a replica to keep for each data block, and a disk for each parity.
   *
   * @param disks all disks in service
   * @return a {@link Placement} of every occupied position, or a {@link PlacementRefusal} that
   *     names what is missing
   */
  public static PlacementResult place(StripeGroup group, List<PlacementDisk> disks, long seed) {
    return byGrade(
        withSpace(disks, group.unitLengthBytes()), takers -> place(group, takers, disks, seed));
  }

  /** Looks for a placement on good disks, and on worse ones as long as it breaks a rule. */
  private static PlacementResult byGrade(
      List<PlacementDisk> roomy, Function<List<PlacementDisk>, PlacementResult> search) {
    PlacementResult best = null;
    for (List<PlacementDisk> takers : PlacementDisk.byGrade(roomy)) {
      PlacementResult found = search.apply(takers);
      if (!(best instanceof Placement before)
          || found instanceof Placement placement && BY_RULES.compare(placement, before) < 0) {
        best = found;
      }
      if (best instanceof Placement placement && breaksNone(placement)) {
        break;
      }
    }
    return best;
  }

  private static boolean breaksNone(Placement placement) {
    return placement.keepsRules()
        && placement.survivesAnyServer()
        && placement.fatalRacks().isEmpty()
        && placement.compromises().isEmpty()
        && placement.fatalServerPairs() == 0;
  }

  private static PlacementResult place(
      StripeGroup group, List<PlacementDisk> roomy, List<PlacementDisk> disks, long seed) {
    Optional<ErasureCode> merged = group.mergesInto();
    PlacementResult result = place(group, merged, roomy, disks, seed);
    if (result instanceof PlacementRefusal refusal && merged.isPresent()) {
      result = place(group, Optional.empty(), roomy, disks, seed);
      if (result instanceof Placement placement) {
        return with(
            placement, "the stripes cannot become " + merged.get() + " here: " + refusal.reason());
      }
    }
    return result;
  }

  private static PlacementResult place(
      StripeGroup group,
      Optional<ErasureCode> merged,
      List<PlacementDisk> roomy,
      List<PlacementDisk> disks,
      long seed) {
    List<ErasureCode> codes = new ArrayList<>(List.of(group.code()));
    merged.ifPresent(codes::add);
    Optional<Placement> best = Optional.empty();
    for (int tries = 0; tries < RACK_TRIES && racksSuffice(codes, roomy); tries++) {
      GroupPlacer byRacks =
          new GroupPlacer(group, merged, roomy, disks, true, tries % 2 == 1, random(seed + tries));
      if (byRacks.tooSmall().isPresent()) {
        break;
      }
      Optional<Placement> placed = byRacks.place();
      if (placed.isPresent() && (best.isEmpty() || fatalCount(placed) < fatalCount(best))) {
        best = placed;
      }
      if (best.isPresent() && (fatalCount(best) == 0 || !pairsSuffice(codes, roomy))) {
        break;
      }
    }
    if (best.isPresent()) {
      return best.get();
    }
    GroupPlacer byServers =
        new GroupPlacer(group, merged, roomy, disks, false, false, random(seed));
    Optional<PlacementRefusal> tooSmall = byServers.tooSmall();
    if (tooSmall.isPresent()) {
      return tooSmall.get();
    }
    Optional<Placement> placed = byServers.place();
    return placed.isEmpty() ? byServers.noneFound() : withRacksNamed(placed.get(), codes, roomy);
  }

  private static int fatalCount(Optional<Placement> placement) {
    return placement.map(p -> p.fatalServerPairs() + p.fatalPairsWhenMerged()).orElse(0);
  }

  /** Whether there are enough servers for stripes that survive the loss of any two. */
  private static boolean pairsSuffice(List<ErasureCode> codes, List<PlacementDisk> disks) {
    int servers = (int) disks.stream().map(PlacementDisk::serverUuid).distinct().count();
    return codes.stream().allMatch(code -> AnyTwoServers.survives(code, servers));
  }

  /** Adds a compromise that names the racks whose loss is not survived, and what is missing. */
  private static Placement withRacksNamed(
      Placement placement, List<ErasureCode> codes, List<PlacementDisk> roomy) {
    if (placement.fatalRacks().isEmpty()) {
      return placement;
    }
    ErasureCode hardest =
        codes.stream().max(Comparator.comparingInt(MinimumServers::of)).orElseThrow();
    return with(
        placement,
        "the loss of rack %s is not survived: %s needs %d racks or more, of about as many disks with space each; the cluster has %d (%s)"
            .formatted(
                String.join(" or ", placement.fatalRacks()),
                hardest,
                MinimumServers.of(hardest),
                racks(roomy).size(),
                String.join(", ", racks(roomy))));
  }

  static boolean racksSuffice(List<ErasureCode> codes, List<PlacementDisk> disks) {
    int racks = racks(disks).size();
    return racks > 1 && codes.stream().allMatch(code -> racks >= MinimumServers.of(code));
  }

  private static List<String> racks(List<PlacementDisk> disks) {
    return disks.stream().map(PlacementDisk::rack).distinct().sorted().toList();
  }

  private static Placement with(Placement placement, String compromise) {
    List<String> compromises = new ArrayList<>(placement.compromises());
    compromises.add(compromise);
    return new Placement(
        placement.stripes(),
        placement.disks(),
        placement.moves(),
        placement.survivesAnyServer(),
        placement.fatalRacks(),
        placement.fatalServerPairs(),
        placement.fatalPairsWhenMerged(),
        placement.keepsRules(),
        compromises);
  }

  /**
   * Disks for missing blocks of stripes whose other members stay where they are: for repaired
   * blocks, or for the new parities of a conversion. A block in a poor place is better than none,
   * so a broken rule is reported in the compromises of the answer. The answer is a {@link
   * PlacementRefusal} only if no disk has space.
   *
   * @param code the code of every stripe (after a conversion: the new one)
   * @param mergesInto the compact code of the stripe that the stripes may become later
   * @param members by stripe of the group: the disks of the members that stay. A disk out of
   *     service may be among them, because it may come back
   * @param missing by stripe of the group: the positions to place
   * @param lengthBytes of the longest block to place
   * @param disks the disks in service
   */
  public static PlacementResult placeMissing(
      ErasureCode code,
      Optional<ErasureCode> mergesInto,
      List<? extends Map<Integer, PlacementDisk>> members,
      List<? extends Collection<Integer>> missing,
      long lengthBytes,
      List<PlacementDisk> disks,
      long seed) {
    return byGrade(
        withSpace(disks, lengthBytes),
        takers ->
            placeMissing(code, mergesInto, members, missing, lengthBytes, takers, disks, seed));
  }

  private static PlacementResult placeMissing(
      ErasureCode code,
      Optional<ErasureCode> mergesInto,
      List<? extends Map<Integer, PlacementDisk>> members,
      List<? extends Collection<Integer>> missing,
      long lengthBytes,
      List<PlacementDisk> roomy,
      List<PlacementDisk> disks,
      long seed) {
    if (racksSuffice(List.of(code), disks)) {
      PlacementResult byRacks =
          new MissingBlockPlacer(
                  code, mergesInto, members, missing, lengthBytes, roomy, disks, true, random(seed))
              .place();
      if (byRacks instanceof PlacementRefusal
          || byRacks instanceof Placement placement && placement.compromises().isEmpty()) {
        return byRacks;
      }
    }
    PlacementResult byServers =
        new MissingBlockPlacer(
                code, mergesInto, members, missing, lengthBytes, roomy, disks, false, random(seed))
            .place();
    return byServers instanceof Placement placement
        ? withRacksNamed(placement, List.of(code), disks)
        : byServers;
  }

  /** Random numbers of a seed. The first numbers of {@link Random} are alike for seeds in a row. */
  private static Random random(long seed) {
    return new Random(new SplittableRandom(seed).nextLong());
  }

  static List<PlacementDisk> withSpace(List<PlacementDisk> disks, long lengthBytes) {
    return disks.stream()
        .filter(disk -> disk.freeBytes() >= lengthBytes)
        .sorted(Comparator.comparing(PlacementDisk::storageUuid))
        .toList();
  }
}
