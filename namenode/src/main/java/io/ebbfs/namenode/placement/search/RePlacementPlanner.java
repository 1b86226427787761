package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.View;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * Counts the rules of placement that an existing stripe breaks, and plans which of its blocks
 * should move to which disks. A rule counts only if the cluster can keep it: racks count if there
 * are enough of them, and pairs of servers count if a pattern for the number of servers is known.
 * The merged stripe counts as well, except for pairs of servers. Pure: the random numbers are
 * handed in. Not thread-safe.
 */
public final class RePlacementPlanner {
  private static final int CHECKS = 3_000;
  private static final int MOST_FOR_PATTERNS = 14;

  /** The weight of a fatal pair of the merged stripe: alone it is no reason to copy a block. */
  private static final double WEIGHT_MERGED = 0.1;

  private final View view;
  // The merged stripe; null if the stripe does not merge.
  private final View merged;
  private final PlacementDraft draft;
  private final DiskAssigner assigner;
  private final Random random;
  private final SortedMap<Integer, Item> items = new TreeMap<>();
  private final boolean keepsRacks;
  private final boolean keepsPairs;

  /**
   * The moves that improve the placement of a stripe.
   *
   * @param violations how many rules the stripe breaks: blocks on servers that are drained, disks
   *     with two of its blocks, and servers, racks and pairs of servers whose loss it does not
   *     survive
   * @param left how many rules it breaks after the moves
   * @param leaving how many of its blocks are on servers that are drained
   * @param staying how many of these blocks the moves leave there
   * @param targets the new disk of each position that should move; empty if no moves help
   * @param violationsInWords the broken rules, for people
   */
  public record Moves(
      int violations,
      int left,
      int leaving,
      int staying,
      SortedMap<Integer, PlacementDisk> targets,
      String violationsInWords) {}

  /**
   * What the placement of stripes in one code has to keep, by the servers and disks of the cluster.
   *
   * @param compact the code of the stripe that a group has to be able to become; empty for none
   * @param keepsRacks whether stripes survive the loss of any rack
   * @param keepsPairs whether stripes survive the loss of any two servers
   */
  public record Rules(Optional<ErasureCode> compact, boolean keepsRacks, boolean keepsPairs) {
    /**
     * @param mergesInto the compact code of the stripe that a group may become later
     * @param disks all disks in service
     */
    public static Rules of(
        ErasureCode code, Optional<ErasureCode> mergesInto, List<PlacementDisk> disks) {
      Optional<ErasureCode> compact = mergesInto.filter(to -> mayMerge(to, disks));
      return new Rules(
          compact,
          StripePlacer.racksSuffice(
              compact.map(to -> List.of(code, to)).orElse(List.of(code)), disks),
          mayKeepPairs(code, disks));
    }
  }

  /**
   * A planner for one stripe.
   *
   * @param rules of the whole cluster
   * @param group by slot: the disk of every block of the stripe, and of the stripes with which it
   *     merges; only blocks of the stripe itself are moved
   * @param slot the slot of the stripe
   * @param lengthBytes of the longest block
   * @param disks the disks in service that blocks may move to
   */
  public RePlacementPlanner(
      ErasureCode code,
      Rules rules,
      List<? extends Map<Integer, PlacementDisk>> group,
      int slot,
      long lengthBytes,
      List<PlacementDisk> disks,
      Random random) {
    List<PlacementDisk> others = new ArrayList<>(disks);
    group.forEach(stripe -> others.addAll(stripe.values()));
    this.random = random;
    this.keepsRacks = rules.keepsRacks();
    this.keepsPairs = rules.keepsPairs();
    this.draft =
        new PlacementDraft(StripePlacer.withSpace(disks, lengthBytes), others, keepsRacks, random);
    this.assigner = new DiskAssigner(draft, random);
    DraftGroup draftGroup =
        new DraftGroup(
            draft, code, rules.compact(), group.stream().map(Map::keySet).toList(), WEIGHT_MERGED);
    this.view = draftGroup.stripes.get(slot);
    this.merged = draftGroup.merged;
    for (int other = 0; other < group.size(); other++) {
      if (other != slot) {
        pin(draftGroup, other, group.get(other));
      }
    }
    group
        .get(slot)
        .forEach(
            (position, disk) -> {
              Item item = draft.addWithReplicas(List.of(disk.storageUuid()), 0);
              draftGroup.join(item, new BlockRef(slot, position));
              item.place(item.choices[0]);
              items.put(position, item);
            });
  }

  /** Adds the blocks of another stripe to the merged stripe, where they stay. */
  private void pin(DraftGroup draftGroup, int slot, Map<Integer, PlacementDisk> members) {
    members.forEach(
        (position, disk) ->
            draftGroup
                .positionInMerged(new BlockRef(slot, position))
                .ifPresent(at -> draft.addFree().in(draftGroup.merged, at).pin(disk)));
  }

  private static boolean mayMerge(ErasureCode compact, List<PlacementDisk> disks) {
    return disks.size() >= compact.size() && servers(disks) >= MinimumServers.of(compact);
  }

  private static int servers(List<PlacementDisk> disks) {
    return (int) disks.stream().map(PlacementDisk::serverUuid).distinct().count();
  }

  /** Whether a stripe on these servers, or on some of them, can survive the loss of any two. */
  private static boolean mayKeepPairs(ErasureCode code, List<PlacementDisk> disks) {
    for (int s = Math.min(MOST_FOR_PATTERNS, servers(disks));
        ServerPattern.mayExist(code, s);
        s--) {
      if (ServerPattern.find(code, Optional.empty(), s).isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** Plans the moves. It may be called once: afterwards the draft contains the moves. */
  public Moves plan() {
    int before = violations();
    int leaving = onLeavingServers();
    int fatalBefore = fatalServers();
    String inWords = violationsInWords();
    if (before == 0) {
      return new Moves(0, 0, 0, 0, new TreeMap<>(), inWords);
    }
    for (Item item : items.values()) {
      if (isMisplaced(item)) {
        int was = item.disk();
        item.remove();
        if (!assigner.placeAnywhere(item)) {
          item.place(was);
        }
      }
    }
    if (fatalPairs() > 0) {
      fixPairs();
    }
    int left = violations();
    // A server that is drained is left even if a rule of less weight is broken instead.
    boolean drains = onLeavingServers() < leaving && fatalServers() <= fatalBefore;
    SortedMap<Integer, PlacementDisk> moves = new TreeMap<>();
    if (left < before || drains) {
      items.forEach(
          (position, item) -> {
            if (item.isMove(item.disk())) {
              moves.put(position, draft.disk(item.disk()));
            }
          });
    }
    int staying = moves.isEmpty() ? leaving : onLeavingServers();
    return new Moves(before, Math.min(before, left), leaving, staying, moves, inWords);
  }

  /**
   * Removes fatal pairs by single steps; if some are left, spreads the blocks evenly first and
   * tries again. Single steps fail if a few servers hold equal parts of the stripe: there are few
   * fatal pairs then, and each single step adds more.
   */
  private void fixPairs() {
    DraftImprover.run(draft, random, true, CHECKS);
    int left = violations();
    if (left > 0) {
      PlacementDraft.Snapshot best = draft.snapshot();
      spread();
      DraftImprover.run(draft, random, true, CHECKS);
      if (violations() >= left) {
        draft.restore(best);
      }
    }
  }

  /** Moves blocks from the servers with the most of them to those with the fewest. */
  private void spread() {
    for (int moves = 0; moves < items.size(); moves++) {
      List<Integer> servers = new ArrayList<>();
      for (int server = 0; server < draft.serverCount(); server++) {
        if (draft.disksOf(server).length > 0) {
          servers.add(server);
        }
      }
      if (servers.isEmpty()) {
        return; // no disk has space
      }
      servers.sort(Comparator.comparingInt(view::countOn));
      int most = servers.get(servers.size() - 1);
      if (view.countOn(most) - view.countOn(servers.get(0)) < 2
          || servers.stream().noneMatch(server -> moveOne(most, server))) {
        return;
      }
    }
  }

  private boolean moveOne(int from, int to) {
    if (view.countOn(from) - view.countOn(to) < 2) {
      return false;
    }
    for (Item item : items.values()) {
      if (item.server() == from) {
        int was = item.disk();
        item.remove();
        for (int disk : draft.disksOf(to)) {
          if (item.fits(disk)) {
            item.place(disk);
            return true;
          }
        }
        item.place(was);
      }
    }
    return false;
  }

  /** Whether an item shares its disk, or its server or rack holds too much of a stripe. */
  private boolean isMisplaced(Item item) {
    return item.memberships().stream().anyMatch(m -> isMisplaced(item, m.view()));
  }

  private boolean isMisplaced(Item item, View in) {
    return draft.disk(item.disk()).leaving()
        || in.countOnDisk(item.disk()) > 1
        || !in.survives(item.server())
        || keepsRacks && !in.survivesRack(draft.rackOf(item.server()));
  }

  /** How many rules the stripe breaks; searches no moves. */
  public int violations() {
    return onLeavingServers() + sharedDisks() + fatalServers() + fatalRacks() + fatalPairs();
  }

  /** How many blocks of the stripe are on servers that are drained. */
  private int onLeavingServers() {
    return (int) items.values().stream().filter(item -> draft.disk(item.disk()).leaving()).count();
  }

  /** The sum over the stripe and the merged stripe. */
  private int count(ToIntFunction<View> ofView) {
    return ofView.applyAsInt(view) + (merged == null ? 0 : ofView.applyAsInt(merged));
  }

  private int sharedDisks() {
    return count(
        of ->
            (int)
                IntStream.range(0, draft.diskCount())
                    .filter(disk -> of.countOnDisk(disk) > 1)
                    .count());
  }

  private int fatalServers() {
    return count(
        of ->
            (int)
                IntStream.range(0, draft.serverCount())
                    .filter(server -> !of.survives(server))
                    .count());
  }

  private int fatalRacks() {
    return keepsRacks
        ? count(
            of ->
                (int)
                    IntStream.range(0, draft.rackCount())
                        .filter(rack -> !of.survivesRack(rack))
                        .count())
        : 0;
  }

  private int fatalPairs() {
    return keepsPairs ? draft.fatalServerPairs(List.of(view)) : 0;
  }

  private String violationsInWords() {
    return "%d blocks on servers that are drained, %d disks with two blocks, %d servers, %d racks and %d pairs of servers whose loss is not survived"
        .formatted(onLeavingServers(), sharedDisks(), fatalServers(), fatalRacks(), fatalPairs());
  }
}
