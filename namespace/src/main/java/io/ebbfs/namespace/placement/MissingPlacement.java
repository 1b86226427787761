package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.View;
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

/** Placement of single blocks into stripes that exist. */
final class MissingPlacement {
  private static final int CHECKS = 3_000;
  private static final int CHECKS_PER_LAYOUT = 4;

  private final ErasureCode code;
  private final long lengthBytes;
  private final List<Disk> roomy;
  private final Layout layout;
  private final LayoutSearch search;
  private final SortedMap<BlockRef, Item> missing = new TreeMap<>();
  private final List<String> compromises = new ArrayList<>();
  private boolean keepsRules = true;
  private final int stripes;
  private final Random random;
  private final GroupViews views;

  MissingPlacement(
      ErasureCode code,
      List<? extends Map<Integer, Disk>> members,
      List<? extends Collection<Integer>> missingPositions,
      long lengthBytes,
      List<Disk> disks,
      boolean keepsRacks,
      Random random) {
    this.code = code;
    this.lengthBytes = lengthBytes;
    this.roomy = StripePlacement.withSpace(disks, lengthBytes);
    this.stripes = members.size();
    List<Disk> others = new ArrayList<>(disks);
    members.forEach(stripe -> others.addAll(stripe.values()));
    this.layout = new Layout(roomy, others, keepsRacks, random);
    this.search = new LayoutSearch(layout, random);
    this.random = random;
    this.views =
        new GroupViews(
            layout, code, merged(members, missingPositions), all(members, missingPositions));
    for (int s = 0; s < stripes; s++) {
      int stripe = s;
      members
          .get(s)
          .forEach(
              (position, disk) -> {
                if (!missingPositions.get(stripe).contains(position)) {
                  views.join(layout.addFree(), new BlockRef(stripe, position)).pin(disk);
                }
              });
      for (int position : missingPositions.get(s)) {
        BlockRef ref = new BlockRef(s, position);
        missing.put(ref, views.join(layout.addFree(), ref));
      }
    }
  }

  private static List<Set<Integer>> all(
      List<? extends Map<Integer, Disk>> members,
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
      List<? extends Map<Integer, Disk>> members,
      List<? extends Collection<Integer>> missingPositions) {
    boolean hasData =
        all(members, missingPositions).stream()
            .flatMap(Set::stream)
            .anyMatch(position -> code.position(position).isData());
    return hasData ? StripePlacement.mergesInto(code) : Optional.empty();
  }

  PlacementResult place() {
    if (roomy.isEmpty()) {
      return new Refusal(
          "no disk in service has "
              + lengthBytes
              + " bytes free for a block of "
              + code
              + "; add disks or delete data");
    }
    missing.forEach(
        (ref, item) -> {
          if (!search.placeAnywhere(item)) {
            item.place(leastBad(ref, item));
          }
        });
    Improvement.run(layout, random, false, checks());
    List<SortedMap<Integer, Disk>> disks = new ArrayList<>();
    for (int s = 0; s < stripes; s++) {
      disks.add(new TreeMap<>());
    }
    missing.forEach(
        (ref, item) -> disks.get(ref.stripe()).put(ref.position(), layout.disk(item.disk())));
    return new Placement(
        List.of(),
        disks,
        Set.of(),
        layout.survivesAnyServer(),
        layout.weakRacks(),
        layout.weakServerPairs(views.stripes),
        views.weakPairsOfMerged(layout),
        keepsRules,
        List.copyOf(compromises));
  }

  /** A few blocks on a few servers have so few layouts that more checks only repeat others. */
  private int checks() {
    double layouts = Math.pow(layout.serverCount(), missing.size());
    return (int) Math.min(CHECKS, CHECKS_PER_LAYOUT * layouts);
  }

  /** A disk of its own before a server that may be lost; the stripe of now before that to come. */
  private int leastBad(BlockRef ref, Item item) {
    int best = Layout.NOWHERE;
    double bestBadness = Double.MAX_VALUE;
    for (int disk = 0; disk < layout.diskCount(); disk++) {
      if (layout.takesNew(disk)) {
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

  private static final double MERGED = 100;
  private static final double FATAL_SERVER = 10_000;
  private static final double SAME_DISK = 1_000_000;

  private double badness(Item item, int disk) {
    double badness = item.score(disk);
    for (int m = 0; m < item.memberships().size(); m++) {
      View view = item.memberships().get(m).view();
      int position = item.memberships().get(m).position();
      double weight = m == 0 ? 1 : MERGED / FATAL_SERVER;
      if (view.countOnDisk(disk) > 0) {
        badness += m == 0 ? SAME_DISK : MERGED;
      }
      if (!view.survivesWith(layout.serverOf(disk), position)) {
        badness += FATAL_SERVER * weight;
      }
    }
    return badness;
  }
}
