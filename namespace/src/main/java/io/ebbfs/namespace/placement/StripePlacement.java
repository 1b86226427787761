package io.ebbfs.namespace.placement;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * Gives the blocks of stripes their disks. No two blocks of a stripe share a disk, and any one
 * server may be lost, and any one rack where there are enough: whether a stripe survives that is
 * asked of its code. Stripes that may merge into a compact one are placed so that the same holds
 * for it. Then any two servers, as far as the code and their number allow. Pure functions; random
 * ties come from the seed.
 */
public final class StripePlacement {
  private static final int RACK_TRIES = 12;

  private StripePlacement() {}

  /**
   * Disks for a new group: for each data block the replica to keep, for each parity a new place.
   *
   * @param disks all disks in service
   * @return a {@link Placement} of every occupied position, or a {@link Refusal} that names what is
   *     missing
   */
  public static PlacementResult place(StripeGroup group, List<Disk> disks, long seed) {
    List<Disk> roomy = withSpace(disks, group.unitLengthBytes());
    Optional<ErasureCode> merged = group.merges() ? mergesInto(group.code()) : Optional.empty();
    PlacementResult result = place(group, merged, roomy, disks, seed);
    if (result instanceof Refusal refusal && merged.isPresent()) {
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
      List<Disk> roomy,
      List<Disk> disks,
      long seed) {
    List<ErasureCode> codes = new ArrayList<>(List.of(group.code()));
    merged.ifPresent(codes::add);
    Optional<Placement> best = Optional.empty();
    for (int tries = 0; tries < RACK_TRIES && racksSuffice(codes, roomy); tries++) {
      GroupPlacement byRacks =
          new GroupPlacement(
              group, merged, roomy, disks, true, tries % 2 == 1, random(seed + tries));
      if (byRacks.tooSmall().isPresent()) {
        break;
      }
      Optional<Placement> placed = byRacks.place();
      if (placed.isPresent() && (best.isEmpty() || weakness(placed) < weakness(best))) {
        best = placed;
      }
      if (best.isPresent() && (weakness(best) == 0 || !pairsSuffice(codes, roomy))) {
        break;
      }
    }
    if (best.isPresent()) {
      return best.get();
    }
    GroupPlacement byServers =
        new GroupPlacement(group, merged, roomy, disks, false, false, random(seed));
    Optional<Refusal> tooSmall = byServers.tooSmall();
    if (tooSmall.isPresent()) {
      return tooSmall.get();
    }
    Optional<Placement> placed = byServers.place();
    return placed.isEmpty() ? byServers.noneFound() : withRacksNamed(placed.get(), codes, roomy);
  }

  private static int weakness(Optional<Placement> placement) {
    return placement.map(p -> p.weakServerPairs() + p.weakPairsWhenMerged()).orElse(0);
  }

  /** Whether there are so many servers that any two may be lost. */
  private static boolean pairsSuffice(List<ErasureCode> codes, List<Disk> disks) {
    int servers = (int) disks.stream().map(Disk::serverUuid).distinct().count();
    return codes.stream().allMatch(code -> MinimumServers.survivesAnyTwo(code, servers));
  }

  /** Says which racks may not be lost, and what is missing. */
  private static Placement withRacksNamed(
      Placement placement, List<ErasureCode> codes, List<Disk> roomy) {
    if (placement.weakRacks().isEmpty()) {
      return placement;
    }
    ErasureCode hardest =
        codes.stream().max(Comparator.comparingInt(MinimumServers::of)).orElseThrow();
    return with(
        placement,
        "the loss of rack %s is not survived: %s needs %d racks or more, of about as many disks with space each; the cluster has %d (%s)"
            .formatted(
                String.join(" or ", placement.weakRacks()),
                hardest,
                MinimumServers.of(hardest),
                racks(roomy).size(),
                String.join(", ", racks(roomy))));
  }

  static boolean racksSuffice(List<ErasureCode> codes, List<Disk> disks) {
    int racks = racks(disks).size();
    return racks > 1 && codes.stream().allMatch(code -> racks >= MinimumServers.of(code));
  }

  private static List<String> racks(List<Disk> disks) {
    return disks.stream().map(Disk::rack).distinct().sorted().toList();
  }

  private static Placement with(Placement placement, String compromise) {
    List<String> compromises = new ArrayList<>(placement.compromises());
    compromises.add(compromise);
    return new Placement(
        placement.stripes(),
        placement.disks(),
        placement.moves(),
        placement.survivesAnyServer(),
        placement.weakRacks(),
        placement.weakServerPairs(),
        placement.weakPairsWhenMerged(),
        placement.keepsRules(),
        compromises);
  }

  /** The compact code that stripes of this code are merged into, if they are merged. */
  static Optional<ErasureCode> mergesInto(ErasureCode code) {
    return Codes.familyOf(code.name())
        .filter(family -> family.fast().equals(code.name()))
        .map(CodeFamily::compactCode);
  }

  /**
   * Disks for blocks that are missing in stripes whose other members are where they are: repaired
   * blocks, or the new parities of a conversion. A block somewhere is better than none: where the
   * rules cannot be kept, the answer says so in its compromises. It is a {@link Refusal} only if no
   * disk has space.
   *
   * @param code the code of every stripe (after a conversion: the new one)
   * @param members by stripe of the group: the disks of the members that stay, also of those on
   *     disks that are out of service, as far as they may come back
   * @param missing by stripe of the group: the positions to place
   * @param lengthBytes of the longest block to place
   * @param disks the disks in service
   */
  public static PlacementResult placeMissing(
      ErasureCode code,
      List<? extends Map<Integer, Disk>> members,
      List<? extends Collection<Integer>> missing,
      long lengthBytes,
      List<Disk> disks,
      long seed) {
    if (racksSuffice(List.of(code), disks)) {
      PlacementResult byRacks =
          new MissingPlacement(code, members, missing, lengthBytes, disks, true, random(seed))
              .place();
      if (byRacks instanceof Refusal
          || byRacks instanceof Placement placement && placement.compromises().isEmpty()) {
        return byRacks;
      }
    }
    PlacementResult byServers =
        new MissingPlacement(code, members, missing, lengthBytes, disks, false, random(seed))
            .place();
    return byServers instanceof Placement placement
        ? withRacksNamed(placement, List.of(code), disks)
        : byServers;
  }

  /** Random's first numbers are alike for seeds that are near each other; these are not. */
  private static Random random(long seed) {
    return new Random(new SplittableRandom(seed).nextLong());
  }

  static List<Disk> withSpace(List<Disk> disks, long lengthBytes) {
    return disks.stream()
        .filter(disk -> disk.freeBytes() >= lengthBytes)
        .sorted(Comparator.comparing(Disk::storageUuid))
        .toList();
  }
}
