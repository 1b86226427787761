package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.PlacementResult;
import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Places single blocks of stripes whose other blocks stay where they are. */
final class MissingBlockPlacer {
  private static final int CHECKS = 3_000;
  private static final int CHECKS_PER_PLACEMENT = 4;

  // What a broken rule costs. Each is far above the sum of all less important ones.
  private static final double MERGED = 100;
  private static final double FATAL_SERVER = 10_000;
  private static final double SAME_DISK = 1_000_000;

  private final ErasureCode code;
  private final long lengthBytes;
  private final List<PlacementDisk> roomy;
  private final PlacementDraft draft;
  private final DiskAssigner assigner;
  private final SortedMap<BlockRef, Item> missing = new TreeMap<>();
  private final List<String> compromises = new ArrayList<>();
  private boolean keepsRules = true;
  private final int stripes;
  private final Random random;
  private final DraftGroup draftGroup;

  /**
   * @param roomy disks with space that new blocks may go to
   * @param disks all disks in service
   */
  MissingBlockPlacer(
      ErasureCode code,
      Optional<ErasureCode> mergesInto,
      List<? extends Map<Integer, PlacementDisk>> members,
      List<? extends Collection<Integer>> missingPositions,
      long lengthBytes,
      List<PlacementDisk> roomy,
      List<PlacementDisk> disks,
      boolean keepsRacks,
      Random random) {
    this.code = code;
    this.lengthBytes = lengthBytes;
    this.roomy = roomy;
    this.stripes = members.size();
    List<PlacementDisk> others = new ArrayList<>(disks);
    members.forEach(stripe -> others.addAll(stripe.values()));
    this.draft = new PlacementDraft(roomy, others, keepsRacks, random);
    this.assigner = new DiskAssigner(draft, random);
    this.random = random;
    this.draftGroup =
        new DraftGroup(
            draft,
            code,
            merged(mergesInto, members, missingPositions),
            all(members, missingPositions));
    for (int s = 0; s < stripes; s++) {
      int stripe = s;
      members
          .get(s)
          .forEach(
              (position, disk) -> {
                if (!missingPositions.get(stripe).contains(position)) {
                  draftGroup.join(draft.addFree(), new BlockRef(stripe, position)).pin(disk);
                }
              });
      for (int position : missingPositions.get(s)) {
        BlockRef ref = new BlockRef(s, position);
        missing.put(ref, draftGroup.join(draft.addFree(), ref));
      }
    }
  }

  private static List<Set<Integer>> all(
      List<? extends Map<Integer, PlacementDisk>> members,
      List<? extends Collection<Integer>> missingPositions) {
    List<Set<Integer>> all = new ArrayList<>();
    for (int s = 0; s < members.size(); s++) {
      Set<Integer> positions = new TreeSet<>(members.get(s).keySet());
      positions.addAll(missingPositions.get(s));
      all.add(positions);
    }
    return all;
  }

  private Optional<ErasureCode> merged(
      Optional<ErasureCode> mergesInto,
      List<? extends Map<Integer, PlacementDisk>> members,
      List<? extends Collection<Integer>> missingPositions) {
    boolean hasData =
        all(members, missingPositions).stream()
            .flatMap(Set::stream)
            .anyMatch(position -> code.position(position).isData());
    return hasData ? mergesInto : Optional.empty();
  }

  PlacementResult place() {
    if (roomy.isEmpty()) {
      return new PlacementRefusal(
          "no disk in service has "
              + lengthBytes
              + " bytes free for a block of "
              + code
              + "; add disks or delete data");
    }
    missing.forEach(
        (ref, item) -> {
          if (!assigner.placeAnywhere(item)) {
            item.place(leastBad(ref, item));
          }
        });
    DraftImprover.run(draft, random, false, checks());
    List<SortedMap<Integer, PlacementDisk>> disks = new ArrayList<>();
    for (int s = 0; s < stripes; s++) {
      disks.add(new TreeMap<>());
    }
    missing.forEach(
        (ref, item) -> disks.get(ref.stripe()).put(ref.position(), draft.disk(item.disk())));
    return new Placement(
        List.of(),
        disks,
        Set.of(),
        draft.survivesAnyServer(),
        draft.fatalRacks(),
        draft.fatalServerPairs(draftGroup.stripes),
        draftGroup.fatalPairsOfMerged(draft),
        keepsRules,
        List.copyOf(compromises));
  }

  /** A few blocks on a few servers have few possible places: more checks would repeat the same. */
  private int checks() {
    double placements = Math.pow(draft.serverCount(), missing.size());
    return (int) Math.min(CHECKS, CHECKS_PER_PLACEMENT * placements);
  }

  /**
   * The disk that breaks the least important rules. A disk of its own is more important than a
   * server whose loss is survived, and the present stripe is more important than the merged stripe.
   */
  private int leastBad(BlockRef ref, Item item) {
    int best = PlacementDraft.NOWHERE;
    double bestBadness = Double.MAX_VALUE;
    for (int disk = 0; disk < draft.diskCount(); disk++) {
      if (draft.takesNew(disk)) {
        double badness = badness(item, disk);
        if (badness < bestBadness) {
          best = disk;
          bestBadness = badness;
        }
      }
    }
    String where = code.position(ref.position()).name() + " of stripe " + ref.stripe();
    keepsRules &= bestBadness < FATAL_SERVER;
    if (bestBadness >= SAME_DISK) {
      compromises.add(where + " shares a disk with another block of its stripe");
    } else if (bestBadness >= FATAL_SERVER) {
      compromises.add(where + " is on a server whose loss its stripe does not survive");
    } else {
      compromises.add(where + " is in the way of a later merge of its stripe");
    }
    return best;
  }

  private double badness(Item item, int disk) {
    double badness = item.score(disk);
    for (int m = 0; m < item.memberships().size(); m++) {
      View view = item.memberships().get(m).view();
      int position = item.memberships().get(m).position();
      double weight = m == 0 ? 1 : MERGED / FATAL_SERVER;
      if (view.countOnDisk(disk) > 0) {
        badness += m == 0 ? SAME_DISK : MERGED;
      }
      if (!view.survivesWith(draft.serverOf(disk), position)) {
        badness += FATAL_SERVER * weight;
      }
    }
    return badness;
  }
}
