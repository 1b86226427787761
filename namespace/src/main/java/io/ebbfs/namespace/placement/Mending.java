package io.ebbfs.namespace.placement;

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
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What is wrong with the placement of a stripe that exists, and which blocks should be copied where
 * to mend it. A rule counts only if the cluster could keep it: racks where there are enough, pairs
 * of servers where a pattern for their number is known. Pure; random ties come from the seed.
 */
public final class Mending {
  private static final int CHECKS = 3_000;
  private static final int MOST_FOR_PATTERNS = 14;

  private final View view;
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

  private Mending(
      ErasureCode code,
      Map<Integer, Disk> members,
      long lengthBytes,
      List<Disk> disks,
      Random random) {
    List<Disk> others = new ArrayList<>(disks);
    others.addAll(members.values());
    this.random = random;
    this.keepsRacks = StripePlacement.racksSuffice(List.of(code), disks);
    this.keepsPairs = mayKeepPairs(code, disks);
    this.layout =
        new Layout(StripePlacement.withSpace(disks, lengthBytes), others, keepsRacks, random);
    this.search = new LayoutSearch(layout, random);
    this.view = layout.addView(code, 1);
    members.forEach(
        (position, disk) -> {
          Item item = layout.addWithReplicas(List.of(disk.storageUuid()), 0).in(view, position);
          item.place(item.choices[0]);
          items.put(position, item);
        });
  }

  /**
   * Looks at a stripe.
   *
   * @param members the disk of every block
   * @param lengthBytes of the longest block
   * @param disks the disks in service
   */
  public static Found look(
      ErasureCode code, Map<Integer, Disk> members, long lengthBytes, List<Disk> disks, long seed) {
    Random random = new Random(new SplittableRandom(seed).nextLong());
    return new Mending(code, members, lengthBytes, disks, random).look();
  }

  /** Whether any two servers may be lost of a stripe on so many servers or on some of them. */
  private static boolean mayKeepPairs(ErasureCode code, List<Disk> disks) {
    int servers = (int) disks.stream().map(Disk::serverUuid).distinct().count();
    for (int s = Math.min(MOST_FOR_PATTERNS, servers); Pattern.mayExist(code, s); s--) {
      if (Pattern.find(code, Optional.empty(), s).isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** How many rules are broken, without a search for moves. */
  public static int violations(
      ErasureCode code, Map<Integer, Disk> members, long lengthBytes, List<Disk> disks) {
    return new Mending(code, members, lengthBytes, disks, new Random(0)).violations();
  }

  private Found look() {
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
    if (keepsPairs) {
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

  /** Shares its disk, or is one too many on its server or rack. */
  private boolean isMisplaced(Item item) {
    return view.countOnDisk(item.disk()) > 1
        || !view.survives(item.server())
        || keepsRacks && !view.survivesRack(layout.rackOf(item.server()));
  }

  private int violations() {
    return sharedDisks() + weakServers() + weakRacks() + weakPairs();
  }

  private int sharedDisks() {
    int shared = 0;
    for (int disk = 0; disk < layout.diskCount(); disk++) {
      shared += view.countOnDisk(disk) > 1 ? 1 : 0;
    }
    return shared;
  }

  private int weakServers() {
    int weak = 0;
    for (int server = 0; server < layout.serverCount(); server++) {
      weak += view.survives(server) ? 0 : 1;
    }
    return weak;
  }

  private int weakRacks() {
    return keepsRacks ? layout.weakRacks().size() : 0;
  }

  private int weakPairs() {
    return keepsPairs ? layout.weakServerPairs(List.of(view)) : 0;
  }

  private String what() {
    return "%d disks with two blocks, %d servers, %d racks and %d pairs of servers that may not be lost"
        .formatted(sharedDisks(), weakServers(), weakRacks(), weakPairs());
  }
}
