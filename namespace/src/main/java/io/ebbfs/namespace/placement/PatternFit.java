package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.Membership;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Puts a group on servers as a {@link Pattern} says. Which servers, and which of them takes which
 * part, is drawn, less full ones first; blocks of like length then take the positions in such a way
 * that as many as possible have a replica on the right server (a maximum flow from blocks over
 * disks to servers).
 */
final class PatternFit {
  private final Layout layout;
  private final Pattern pattern;
  private final SortedMap<BlockRef, Item> data;
  private final SortedMap<BlockRef, Item> parities;
  private final SortedMap<Integer, Item> reserved;
  private final Map<Item, List<Membership>> positions = new IdentityHashMap<>();
  private final Random random;
  private int[] serverOf;

  PatternFit(
      Layout layout,
      GroupViews views,
      Pattern pattern,
      SortedMap<BlockRef, Item> data,
      SortedMap<BlockRef, Item> parities,
      SortedMap<Integer, Item> reserved,
      Random random) {
    this.layout = layout;
    this.pattern = pattern;
    this.data = new TreeMap<>();
    // Items may have changed places by now.
    data.values().forEach(item -> this.data.put(views.refOf(item), item));
    this.data.values().forEach(item -> positions.put(item, item.memberships()));
    this.parities = parities;
    this.reserved = reserved;
    this.random = random;
  }

  /** Places all items, on servers drawn anew; false, with none placed, if that does not fit. */
  boolean place() {
    clear();
    boolean isPlaced = tryToPlace();
    if (!isPlaced) {
      clear();
    }
    return isPlaced;
  }

  /** Takes all items off their disks; they get the positions back that they had. */
  void clear() {
    layout.items().stream().filter(Item::isPlaced).forEach(Item::remove);
    positions.forEach(Item::become);
  }

  private boolean tryToPlace() {
    if (!drawServers() || !placeData()) {
      return false;
    }
    // Those of the stripe to come first: they have the fewest disks to choose from.
    List<Map.Entry<Integer, Item>> rest = new ArrayList<>();
    reserved.forEach((at, item) -> rest.add(Map.entry(pattern.ofMerged(at), item)));
    parities.forEach((ref, item) -> rest.add(Map.entry(pattern.of(ref), item)));
    rest.sort((a, b) -> b.getValue().memberships().size() - a.getValue().memberships().size());
    for (Map.Entry<Integer, Item> entry : rest) {
      if (!placeOn(entry.getValue(), serverOf[entry.getKey()])) {
        return false;
      }
    }
    return true;
  }

  /**
   * Draws a server with disks enough for each number of the pattern: the emptier ones, and of these
   * the emptier for the larger parts.
   */
  private boolean drawServers() {
    List<Integer> servers = new ArrayList<>();
    Map<Integer, Double> keys = new HashMap<>();
    for (int server = 0; server < layout.serverCount(); server++) {
      if (layout.disksOf(server).length > 0) {
        servers.add(server);
        keys.put(server, layout.preferenceOfServer(server) + random.nextDouble());
      }
    }
    if (servers.size() < pattern.servers()) {
      return false;
    }
    servers.sort(Comparator.comparing(keys::get));
    List<Integer> left = new ArrayList<>(servers.subList(0, pattern.servers()));
    int[] needed = disksNeeded();
    List<Integer> numbers = new ArrayList<>();
    for (int number = 0; number < needed.length; number++) {
      numbers.add(number);
    }
    java.util.Collections.shuffle(numbers, random); // equal parts are drawn
    numbers.sort(Comparator.comparing(number -> -pattern.countOn(number)));
    serverOf = new int[needed.length];
    for (int number : numbers) {
      Optional<Integer> large =
          left.stream().filter(s -> layout.disksOf(s).length >= needed[number]).findFirst();
      if (large.isEmpty()) {
        return false;
      }
      left.remove(large.get());
      serverOf[number] = large.get();
    }
    return true;
  }

  /** For each number of the pattern: the most blocks of one stripe, now or to come. */
  private int[] disksNeeded() {
    Map<Layout.View, int[]> counts = new IdentityHashMap<>();
    BiConsumer<Item, Integer> count =
        (item, number) ->
            item.memberships()
                .forEach(
                    m ->
                        counts
                            .computeIfAbsent(m.view(), v -> new int[pattern.servers()])[number]++);
    data.forEach((ref, item) -> count.accept(item, pattern.of(ref)));
    parities.forEach((ref, item) -> count.accept(item, pattern.of(ref)));
    reserved.forEach((position, item) -> count.accept(item, pattern.ofMerged(position)));
    int[] needed = new int[pattern.servers()];
    for (int[] ofView : counts.values()) {
      for (int number = 0; number < needed.length; number++) {
        needed[number] = Math.max(needed[number], ofView[number]);
      }
    }
    return needed;
  }

  // ---- data ------------------------------------------------------------------------------------

  private boolean placeData() {
    Map<Integer, List<BlockRef>> byKind = new TreeMap<>();
    data.forEach((ref, item) -> byKind.computeIfAbsent(item.kind, k -> new ArrayList<>()).add(ref));
    Flow flow = new Flow(layout);
    List<Item> toMove = new ArrayList<>();
    for (List<BlockRef> cells : byKind.values()) {
      if (!placeKind(cells, flow, toMove)) {
        return false;
      }
    }
    for (Item item : toMove) {
      if (!placeOn(item, flow.serverOf(item))) {
        return false;
      }
    }
    return true;
  }

  private boolean placeKind(List<BlockRef> cells, Flow flow, List<Item> toMove) {
    List<Item> items = new ArrayList<>(cells.stream().map(data::get).toList());
    java.util.Collections.shuffle(items, random);
    Map<Integer, List<BlockRef>> cellsOn = new HashMap<>();
    for (BlockRef cell : cells) {
      cellsOn.computeIfAbsent(serverOf[pattern.of(cell)], server -> new ArrayList<>()).add(cell);
    }
    flow.assign(items, cellsOn);
    for (Item item : items) {
      if (flow.serverOf(item) < 0 && !chooseServer(item, items, flow)) {
        return false;
      }
    }
    for (Item item : items) {
      List<BlockRef> free = cellsOn.get(flow.serverOf(item));
      item.become(positions.get(data.get(free.remove(free.size() - 1))));
      if (flow.diskOf(item) == Layout.NOWHERE) {
        toMove.add(item);
      } else if (item.fits(flow.diskOf(item))) {
        item.place(flow.diskOf(item));
      } else {
        return false;
      }
    }
    return true;
  }

  /** Finds a server to copy a block to, or one for another block whose place it then takes. */
  private boolean chooseServer(Item item, List<Item> items, Flow flow) {
    List<Integer> free = flow.serversWithRoom();
    for (int server : free) {
      if (!holds(item, server)) {
        flow.move(item, server);
        return true;
      }
    }
    for (int server : free) {
      for (Item other : items) {
        int left = flow.serverOf(other);
        if (flow.diskOf(other) != Layout.NOWHERE && !holds(other, server) && !holds(item, left)) {
          flow.unassign(other);
          flow.move(other, server);
          flow.move(item, left);
          return true;
        }
      }
    }
    return false;
  }

  private boolean holds(Item item, int server) {
    for (int choice : item.choices) {
      if (layout.serverOf(choice) == server) {
        return true;
      }
    }
    return false;
  }

  private boolean placeOn(Item item, int server) {
    int best = Layout.NOWHERE;
    for (int disk : layout.disksOf(server)) {
      if ((best == Layout.NOWHERE || layout.preference(disk) < layout.preference(best))
          && item.fits(disk)) {
        best = disk;
      }
    }
    if (best == Layout.NOWHERE) {
      return false;
    }
    item.place(best);
    return true;
  }

  /** Blocks to disks, one each, and so many on each server. */
  private static final class Flow {
    private final Layout layout;
    private final Item[] onDisk;
    private final Map<Item, Integer> diskOf = new IdentityHashMap<>();
    private final Map<Item, Integer> movesTo = new IdentityHashMap<>();
    private int[] quota;
    private List<List<Item>> onServer;

    Flow(Layout layout) {
      this.layout = layout;
      this.onDisk = new Item[layout.diskCount()];
    }

    int diskOf(Item item) {
      return diskOf.getOrDefault(item, Layout.NOWHERE);
    }

    /** The server that an item stays on or is copied to, or -1. */
    int serverOf(Item item) {
      int disk = diskOf(item);
      return disk == Layout.NOWHERE ? movesTo.getOrDefault(item, -1) : layout.serverOf(disk);
    }

    /** An item without a disk takes up room on a server. */
    void move(Item item, int server) {
      movesTo.put(item, server);
      quota[server]--;
    }

    void unassign(Item item) {
      int disk = diskOf.remove(item);
      onDisk[disk] = null;
      onServer.get(layout.serverOf(disk)).remove(item);
    }

    List<Integer> serversWithRoom() {
      List<Integer> free = new ArrayList<>();
      for (int server = 0; server < quota.length; server++) {
        if (onServer.get(server).size() < quota[server]) {
          free.add(server);
        }
      }
      return free;
    }

    /** Gives as many items as possible one of their disks. */
    void assign(List<Item> items, Map<Integer, List<BlockRef>> cellsOn) {
      quota = new int[layout.serverCount()];
      onServer = new ArrayList<>();
      for (int server = 0; server < quota.length; server++) {
        quota[server] = cellsOn.getOrDefault(server, List.of()).size();
        onServer.add(new ArrayList<>());
      }
      for (Item item : items) {
        augment(item, new boolean[layout.diskCount()], new boolean[quota.length]);
      }
    }

    /** An augmenting path: an item that is in the way looks for another disk. */
    private boolean augment(Item item, boolean[] seenDisks, boolean[] seenServers) {
      int[] choices = byPreference(item.choices);
      for (int disk : choices) {
        int server = layout.serverOf(disk);
        if (onDisk[disk] == null
            && !seenDisks[disk]
            && onServer.get(server).size() < quota[server]) {
          assign(item, disk);
          return true;
        }
      }
      for (int disk : choices) {
        int server = layout.serverOf(disk);
        if (quota[server] == 0 || seenDisks[disk]) {
          continue;
        }
        seenDisks[disk] = true;
        Item there = onDisk[disk];
        if (there != null) {
          // Takes its place on the disk, and so on the server.
          if (onServer.get(server).contains(there) && reroute(there, seenDisks, seenServers)) {
            assign(item, disk);
            return true;
          }
        } else if (!seenServers[server]) {
          seenServers[server] = true;
          for (Item other : List.copyOf(onServer.get(server))) {
            if (reroute(other, seenDisks, seenServers)) {
              assign(item, disk);
              return true;
            }
          }
        }
      }
      return false;
    }

    private boolean reroute(Item item, boolean[] seenDisks, boolean[] seenServers) {
      int was = diskOf.get(item);
      int server = layout.serverOf(was);
      unassign(item);
      seenDisks[was] = true;
      // What it leaves is kept for the one it makes room for.
      quota[server]--;
      boolean found = augment(item, seenDisks, seenServers);
      quota[server]++;
      if (!found) {
        assign(item, was);
      }
      return found;
    }

    private void assign(Item item, int disk) {
      onDisk[disk] = item;
      diskOf.put(item, disk);
      onServer.get(layout.serverOf(disk)).add(item);
    }

    private int[] byPreference(int[] disks) {
      return Arrays.stream(disks)
          .boxed()
          .sorted((a, b) -> Double.compare(layout.preference(a), layout.preference(b)))
          .mapToInt(Integer::intValue)
          .toArray();
    }
  }
}
