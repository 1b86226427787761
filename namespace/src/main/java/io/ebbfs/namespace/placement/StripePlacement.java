package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Gives the blocks of stripes their disks. No two blocks of a stripe share a disk, and any one
 * server may be lost: whether a stripe survives that is asked of its code. Stripes that may merge
 * into a compact one are placed so that the same holds for it. That any two servers may be lost is
 * sought for, and reported. Pure functions; random ties come from the seed.
 */
public final class StripePlacement {
  private StripePlacement() {}

  /**
   * Disks for a new group: for each data block the replica to keep, for each parity a new place.
   *
   * @param disks all disks in service
   * @return a {@link Placement} of every occupied position, or a {@link Refusal} that names what is
   *     missing
   */
  public static PlacementResult place(StripeGroup group, List<Disk> disks, long seed) {
    Optional<ErasureCode> merged = mergesInto(group.code());
    PlacementResult result = new Group(group, merged, disks, seed).place();
    if (result instanceof Refusal refusal && merged.isPresent()) {
      result = new Group(group, Optional.empty(), disks, seed).place();
      if (result instanceof Placement placement) {
        String note = "the stripes cannot become " + merged.get() + " here: " + refusal.reason();
        return withCompromise(placement, note);
      }
    }
    return result;
  }

  private static Placement withCompromise(Placement placement, String note) {
    List<String> compromises = new ArrayList<>(placement.compromises());
    compromises.add(note);
    return new Placement(
        placement.disks(),
        placement.moves(),
        placement.survivesAnyServer(),
        placement.weakServerPairs(),
        placement.keepsRules(),
        compromises);
  }

  /** The compact code that stripes of this code are merged into, if they are merged. */
  private static Optional<ErasureCode> mergesInto(ErasureCode code) {
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
    return new Missing(code, members, missing, lengthBytes, disks, seed).place();
  }

  /** Random's first numbers are alike for seeds that are near each other; these are not. */
  private static Random random(long seed) {
    return new Random(new SplittableRandom(seed).nextLong());
  }

  private static List<Disk> withSpace(List<Disk> disks, long lengthBytes) {
    return disks.stream()
        .filter(disk -> disk.freeBytes() >= lengthBytes)
        .sorted(Comparator.comparing(Disk::storageUuid))
        .toList();
  }

  /** The views and items of a group: its stripes, and the compact stripe they may become. */
  private static final class Views {
    final Layout layout;
    final List<View> stripes = new ArrayList<>();
    final Map<BlockRef, Integer> inMerged = new HashMap<>();
    final List<Integer> onlyMerged = new ArrayList<>();
    View merged;

    Views(
        Layout layout,
        ErasureCode code,
        Optional<ErasureCode> compact,
        List<? extends Collection<Integer>> occupied) {
      this.layout = layout;
      occupied.forEach(positions -> stripes.add(layout.addView(code)));
      if (compact.isPresent()) {
        merged = layout.addView(compact.get());
        Conversion conversion = Planner.upcode(code, compact.get(), occupied, Set.of());
        conversion.kept().forEach(kept -> inMerged.put(kept.before(), kept.after().position()));
        conversion.outputs().forEach(output -> onlyMerged.add(output.position()));
      }
    }

    Item join(Item item, BlockRef ref) {
      item.in(stripes.get(ref.stripe()), ref.position());
      if (inMerged.containsKey(ref)) {
        item.in(merged, inMerged.get(ref));
      }
      return item;
    }
  }

  /** Placement of a new group. */
  private static final class Group {
    private final StripeGroup group;
    private final List<Disk> roomy;
    private final Layout layout;
    private final LayoutSearch search;
    private final Views views;
    private final SortedMap<BlockRef, Item> data = new TreeMap<>();
    private final SortedMap<BlockRef, Item> parities = new TreeMap<>();
    private final List<Item> reserved = new ArrayList<>();

    Group(StripeGroup group, Optional<ErasureCode> compact, List<Disk> disks, long seed) {
      this.group = group;
      this.roomy = withSpace(disks, group.unitLengthBytes());
      Random random = random(seed);
      this.layout = new Layout(roomy, disks, random);
      this.search = new LayoutSearch(layout, random);
      List<Set<Integer>> occupied = new ArrayList<>();
      group.stripes().forEach(stripe -> occupied.add(group.code().occupied(stripe.keySet())));
      this.views = new Views(layout, group.code(), compact, occupied);
      for (int s = 0; s < occupied.size(); s++) {
        for (int position : occupied.get(s)) {
          addItem(new BlockRef(s, position));
        }
      }
      views.onlyMerged.forEach(
          position -> reserved.add(layout.addFree().in(views.merged, position)));
    }

    private void addItem(BlockRef ref) {
      StripeBlock block = group.stripes().get(ref.stripe()).get(ref.position());
      if (block != null) {
        data.put(ref, views.join(layout.addWithReplicas(block.replicas()), ref));
      } else {
        parities.put(ref, views.join(layout.addFree(), ref));
      }
    }

    PlacementResult place() {
      Optional<Refusal> tooSmall = tooSmall();
      if (tooSmall.isPresent()) {
        return tooSmall.get();
      }
      List<Item> toMove = search.placeOnReplicas(List.copyOf(data.values()));
      List<Item> free = new ArrayList<>(toMove);
      free.addAll(parities.values());
      free.addAll(reserved);
      for (Item item : free) {
        if (!search.placeAnywhere(item)) {
          return noneFound();
        }
      }
      search.improve();
      return result(new HashSet<>(toMove));
    }

    private Optional<Refusal> tooSmall() {
      long disksNeeded = 0;
      for (View view : layout.views()) {
        disksNeeded =
            Math.max(
                disksNeeded,
                layout.items().stream()
                    .filter(i -> i.memberships.stream().anyMatch(m -> m.view() == view))
                    .count());
      }
      long serversHere = servers();
      if (serversHere < 2 || roomy.size() < disksNeeded) {
        return Optional.of(
            new Refusal(
                group.code()
                    + " needs "
                    + disksNeeded
                    + " disks with "
                    + group.unitLengthBytes()
                    + " bytes free, on 2 servers at least; the cluster has "
                    + roomy.size()
                    + " on "
                    + serversHere
                    + "; add servers or disks, or choose a smaller code"));
      }
      return Optional.empty();
    }

    private long servers() {
      return roomy.stream().map(Disk::serverUuid).distinct().count();
    }

    private Refusal noneFound() {
      int needed = MinimumServers.of(group.code());
      if (views.merged != null) {
        needed = Math.max(needed, MinimumServers.of(views.merged.code));
      }
      return new Refusal(
          group.code()
              + " needs "
              + Math.max(needed, servers() < needed ? needed : servers() + 1)
              + " failure domains (servers) so that any one may be lost; the cluster has "
              + servers()
              + "; add servers or choose a code with more parities");
    }

    private Placement result(Set<Item> moved) {
      List<SortedMap<Integer, Disk>> disks = new ArrayList<>();
      group.stripes().forEach(stripe -> disks.add(new TreeMap<>()));
      Set<BlockRef> moves = new TreeSet<>();
      data.forEach(
          (ref, item) -> {
            disks.get(ref.stripe()).put(ref.position(), layout.disk(item.disk()));
            if (moved.contains(item) && !holdsReplica(item)) {
              moves.add(ref);
            }
          });
      parities.forEach(
          (ref, item) -> disks.get(ref.stripe()).put(ref.position(), layout.disk(item.disk())));
      return new Placement(
          disks, moves, layout.survivesAnyServer(), layout.weakServerPairs(), true, List.of());
    }

    private static boolean holdsReplica(Item item) {
      for (int choice : item.choices) {
        if (choice == item.disk()) {
          return true;
        }
      }
      return false;
    }
  }

  /** Placement of single blocks into stripes that exist. */
  private static final class Missing {
    private final ErasureCode code;
    private final long lengthBytes;
    private final List<Disk> roomy;
    private final Layout layout;
    private final LayoutSearch search;
    private final SortedMap<BlockRef, Item> missing = new TreeMap<>();
    private final List<String> compromises = new ArrayList<>();
    private boolean keepsRules = true;
    private final int stripes;

    Missing(
        ErasureCode code,
        List<? extends Map<Integer, Disk>> members,
        List<? extends Collection<Integer>> missingPositions,
        long lengthBytes,
        List<Disk> disks,
        long seed) {
      this.code = code;
      this.lengthBytes = lengthBytes;
      this.roomy = withSpace(disks, lengthBytes);
      this.stripes = members.size();
      Random random = random(seed);
      List<Disk> others = new ArrayList<>(disks);
      members.forEach(stripe -> others.addAll(stripe.values()));
      this.layout = new Layout(roomy, others, random);
      this.search = new LayoutSearch(layout, random);
      Views views =
          new Views(
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
      return hasData ? mergesInto(code) : Optional.empty();
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
      search.improve();
      List<SortedMap<Integer, Disk>> disks = new ArrayList<>();
      for (int s = 0; s < stripes; s++) {
        disks.add(new TreeMap<>());
      }
      missing.forEach(
          (ref, item) -> disks.get(ref.stripe()).put(ref.position(), layout.disk(item.disk())));
      return new Placement(
          disks,
          Set.of(),
          layout.survivesAnyServer(),
          layout.weakServerPairs(),
          keepsRules,
          List.copyOf(compromises));
    }

    /**
     * A disk of its own before a server that may be lost; the stripe of now before that to come.
     */
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
      for (int m = 0; m < item.memberships.size(); m++) {
        View view = item.memberships.get(m).view();
        int position = item.memberships.get(m).position();
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
}
