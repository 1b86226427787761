package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.View;
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
 * What is wrong with the placement of a stripe that exists, and which blocks should be copied where
 * to mend it. A rule counts only if the cluster could keep it: racks where there are enough, pairs
 * of servers where a pattern for their number is known. The stripe to come of this one and others
 * counts, too, but for pairs of servers. Pure, but for the numbers drawn. Not thread-safe.
 */
public final class Mending {
  private static final int CHECKS = 3_000;
  private static final int MOST_FOR_PATTERNS = 14;

  /** What a pair of servers counts that the stripe to come would not survive: no copy by itself. */
  private static final double WEIGHT_MERGED = 0.1;

  private final View view;
  // The stripe to come, or null.
  private final View merged;
  private final Layout layout;
  private final LayoutSearch search;
  private final Random random;
  private final SortedMap<Integer, Item> items = new TreeMap<>();
  private final boolean keepsRacks;
  private final boolean keepsPairs;

  /**
   * What was found.
   *
   * @param violations disks with two blocks of the stripe, servers, racks and pairs of servers
   *     whose loss it does not survive though the cluster allows better
   * @param left the same after the moves; at most as many
   * @param moves the new disk of each position that should be copied; empty if nothing found helps
   * @param what the violations in words
   */
  public record Found(int violations, int left, SortedMap<Integer, Disk> moves, String what) {}

  /**
   * Looks at a stripe.
   *
   * @param group by slot: the disk of every block of the stripe and of those that it will merge
   *     with; only blocks of the stripe itself are moved
   * @param slot the slot of the stripe
   * @param lengthBytes of the longest block
   * @param disks the disks in service
   */
  public Mending(
      ErasureCode code,
      List<? extends Map<Integer, Disk>> group,
      int slot,
      long lengthBytes,
      List<Disk> disks,
      Random random) {
    List<Disk> others = new ArrayList<>(disks);
    group.forEach(stripe -> others.addAll(stripe.values()));
    Optional<ErasureCode> compact =
        StripePlacement.mergesInto(code).filter(to -> mayMerge(to, disks));
    this.random = random;
    this.keepsRacks =
        StripePlacement.racksSuffice(
            compact.map(to -> List.of(code, to)).orElse(List.of(code)), disks);
    this.keepsPairs = mayKeepPairs(code, disks);
    this.layout =
        new Layout(StripePlacement.withSpace(disks, lengthBytes), others, keepsRacks, random);
    this.search = new LayoutSearch(layout, random);
    GroupViews views =
        new GroupViews(
            layout, code, compact, group.stream().map(Map::keySet).toList(), WEIGHT_MERGED);
    this.view = views.stripes.get(slot);
    this.merged = views.merged;
    for (int other = 0; other < group.size(); other++) {
      if (other != slot) {
        pin(views, other, group.get(other));
      }
    }
    group
        .get(slot)
        .forEach(
            (position, disk) -> {
              Item item = layout.addWithReplicas(List.of(disk.storageUuid()), 0);
              views.join(item, new BlockRef(slot, position));
              item.place(item.choices[0]);
              items.put(position, item);
            });
  }

  /** What others bring into the stripe to come; their own stripes are looked at by themselves. */
  private void pin(GroupViews views, int slot, Map<Integer, Disk> members) {
    members.forEach(
        (position, disk) ->
            views
                .positionInMerged(new BlockRef(slot, position))
                .ifPresent(at -> layout.addFree().in(views.merged, at).pin(disk)));
  }

  private static boolean mayMerge(ErasureCode compact, List<Disk> disks) {
    return disks.size() >= compact.size() && servers(disks) >= MinimumServers.of(compact);
  }

  private static int servers(List<Disk> disks) {
    return (int) disks.stream().map(Disk::serverUuid).distinct().count();
  }

  /** Whether any two servers may be lost of a stripe on so many servers or on some of them. */
  private static boolean mayKeepPairs(ErasureCode code, List<Disk> disks) {
    for (int s = Math.min(MOST_FOR_PATTERNS, servers(disks)); Pattern.mayExist(code, s); s--) {
      if (Pattern.find(code, Optional.empty(), s).isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** What is wrong, and what would be better. Once only: afterwards it looks at what it found. */
  public Found look() {
    int before = violations();
    String what = what();
    if (before == 0) {
      return new Found(0, 0, new TreeMap<>(), what);
    }
    for (Item item : items.values()) {
      if (isMisplaced(item)) {
        int was = item.disk();
        item.remove();
        if (!search.placeAnywhere(item)) {
          item.place(was);
        }
      }
    }
    if (weakPairs() > 0) {
      mendPairs();
    }
    int left = violations();
    SortedMap<Integer, Disk> moves = new TreeMap<>();
    if (left < before) {
      items.forEach(
          (position, item) -> {
            if (item.isMove(item.disk())) {
              moves.put(position, layout.disk(item.disk()));
            }
          });
    }
    return new Found(before, Math.min(before, left), moves, what);
  }

  /**
   * Step by step, or else from an even spread: a stripe that few servers hold in equal parts has
   * few weak pairs, and every single step makes more of them.
   */
  private void mendPairs() {
    Improvement.run(layout, random, true, CHECKS);
    int left = violations();
    if (left > 0) {
      Layout.Snapshot best = layout.snapshot();
      spread();
      Improvement.run(layout, random, true, CHECKS);
      if (violations() >= left) {
        layout.restore(best);
      }
    }
  }

  /** Moves blocks from the servers with the most of them to those with the fewest. */
  private void spread() {
    for (int moves = 0; moves < items.size(); moves++) {
      List<Integer> servers = new ArrayList<>();
      for (int server = 0; server < layout.serverCount(); server++) {
        if (layout.disksOf(server).length > 0) {
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
        for (int disk : layout.disksOf(to)) {
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

  /** Shares its disk, or is one too many on its server or rack, now or in the stripe to come. */
  private boolean isMisplaced(Item item) {
    return item.memberships().stream().anyMatch(m -> isMisplaced(item, m.view()));
  }

  private boolean isMisplaced(Item item, View in) {
    return in.countOnDisk(item.disk()) > 1
        || !in.survives(item.server())
        || keepsRacks && !in.survivesRack(layout.rackOf(item.server()));
  }

  /** How many rules are broken, without a search for moves. */
  public int violations() {
    return sharedDisks() + weakServers() + weakRacks() + weakPairs();
  }

  /** Over both stripes, that of now and that to come. */
  private int count(ToIntFunction<View> ofView) {
    return ofView.applyAsInt(view) + (merged == null ? 0 : ofView.applyAsInt(merged));
  }

  private int sharedDisks() {
    return count(
        of ->
            (int)
                IntStream.range(0, layout.diskCount())
                    .filter(disk -> of.countOnDisk(disk) > 1)
                    .count());
  }

  private int weakServers() {
    return count(
        of ->
            (int)
                IntStream.range(0, layout.serverCount())
                    .filter(server -> !of.survives(server))
                    .count());
  }

  private int weakRacks() {
    return keepsRacks
        ? count(
            of ->
                (int)
                    IntStream.range(0, layout.rackCount())
                        .filter(rack -> !of.survivesRack(rack))
                        .count())
        : 0;
  }

  private int weakPairs() {
    return keepsPairs ? layout.weakServerPairs(List.of(view)) : 0;
  }

  private String what() {
    return "%d disks with two blocks, %d servers, %d racks and %d pairs of servers that may not be lost"
        .formatted(sharedDisks(), weakServers(), weakRacks(), weakPairs());
  }
}
