package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.Membership;
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
 * Places a group on servers as a {@link ServerPattern} says. The servers are drawn; emptier servers
 * are more likely, and take the larger parts. Blocks of similar length are then distributed over
 * the positions so that as many as possible have a replica on the server of their position: a
 * maximum flow from blocks over disks to servers.
 */
final class PatternFitter {
  private final PlacementDraft draft;
  private final ServerPattern pattern;
  private final SortedMap<BlockRef, Item> data;
  private final SortedMap<BlockRef, Item> parities;
  private final SortedMap<Integer, Item> reserved;
  private final Map<Item, List<Membership>> positions = new IdentityHashMap<>();
  private final Random random;
  private int[] serverOf;

  PatternFitter(
      PlacementDraft draft,
      DraftGroup draftGroup,
      ServerPattern pattern,
      SortedMap<BlockRef, Item> data,
      SortedMap<BlockRef, Item> parities,
      SortedMap<Integer, Item> reserved,
      Random random) {
    this.draft = draft;
    this.pattern = pattern;
    this.data = new TreeMap<>();
    // Items may have swapped positions since the group was made.
    data.values().forEach(item -> this.data.put(draftGroup.refOf(item), item));
    this.data.values().forEach(item -> positions.put(item, item.memberships()));
    this.parities = parities;
    this.reserved = reserved;
    this.random = random;
  }

  /**
   * Draws servers and places all items on them. If they do not fit, places none and returns false.
   */
  boolean place() {
    clear();
    boolean isPlaced = tryToPlace();
    if (!isPlaced) {
      clear();
    }
    return isPlaced;
  }

  /** Takes all items off their disks, and gives them the positions back that they had at first. */
  void clear() {
    draft.items().stream().filter(Item::isPlaced).forEach(Item::remove);
    positions.forEach(Item::become);
  }

  private boolean tryToPlace() {
    if (!drawServers() || !placeData()) {
      return false;
    }
    // Items of the merged stripe come first: they have the fewest disks to choose from.
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
   * Draws a server with enough disks for each number of the pattern. Emptier servers are more
   * likely, and the emptier of them get the larger parts.
   */
  private boolean drawServers() {
    List<Integer> servers = new ArrayList<>();
    Map<Integer, Double> keys = new HashMap<>();
    for (int server = 0; server < draft.serverCount(); server++) {
      if (draft.disksOf(server).length > 0) {
        servers.add(server);
        keys.put(server, draft.preferenceOfServer(server) + random.nextDouble());
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
    java.util.Collections.shuffle(
        numbers, random); // which of two equal parts comes first is random
    numbers.sort(Comparator.comparing(number -> -pattern.countOn(number)));
    serverOf = new int[needed.length];
    for (int number : numbers) {
      Optional<Integer> large =
          left.stream().filter(s -> draft.disksOf(s).length >= needed[number]).findFirst();
      if (large.isEmpty()) {
        return false;
      }
      left.remove(large.get());
      serverOf[number] = large.get();
    }
    return true;
  }

  /** For each number of the pattern: the most blocks of one stripe, merged or not. */
  private int[] disksNeeded() {
    Map<PlacementDraft.View, int[]> counts = new IdentityHashMap<>();
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
    Flow flow = new Flow(draft);
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
      if (flow.diskOf(item) == PlacementDraft.NOWHERE) {
        toMove.add(item);
      } else if (item.fits(flow.diskOf(item))) {
        item.place(flow.diskOf(item));
      } else {
        return false;
      }
    }
    return true;
  }

  /**
   * Finds a server to copy a block to, or copies another block away and gives its place to this
   * one.
   */
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
        if (flow.diskOf(other) != PlacementDraft.NOWHERE
            && !holds(other, server)
            && !holds(item, left)) {
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
      if (draft.serverOf(choice) == server) {
        return true;
      }
    }
    return false;
  }

  private boolean placeOn(Item item, int server) {
    int best = PlacementDraft.NOWHERE;
    for (int disk : draft.disksOf(server)) {
      if ((best == PlacementDraft.NOWHERE || draft.preference(disk) < draft.preference(best))
          && item.fits(disk)) {
        best = disk;
      }
    }
    if (best == PlacementDraft.NOWHERE) {
      return false;
    }
    item.place(best);
    return true;
  }

  /** An assignment of blocks to disks: one block a disk, and a given number of blocks a server. */
  private static final class Flow {
    private final PlacementDraft draft;
    private final Item[] onDisk;
    private final Map<Item, Integer> diskOf = new IdentityHashMap<>();
    private final Map<Item, Integer> movesTo = new IdentityHashMap<>();
    private int[] quota;
    private List<List<Item>> onServer;

    Flow(PlacementDraft draft) {
      this.draft = draft;
      this.onDisk = new Item[draft.diskCount()];
    }

    int diskOf(Item item) {
      return diskOf.getOrDefault(item, PlacementDraft.NOWHERE);
    }

    /** The server on which an item stays or to which it is copied; -1 if there is none yet. */
    int serverOf(Item item) {
      int disk = diskOf(item);
      return disk == PlacementDraft.NOWHERE ? movesTo.getOrDefault(item, -1) : draft.serverOf(disk);
    }

    /** Decides that an item is copied to a server, which then has room for one item less. */
    void move(Item item, int server) {
      movesTo.put(item, server);
      quota[server]--;
    }

    void unassign(Item item) {
      int disk = diskOf.remove(item);
      onDisk[disk] = null;
      onServer.get(draft.serverOf(disk)).remove(item);
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

    /** Assigns as many items as possible to a disk that holds a replica of them. */
    void assign(List<Item> items, Map<Integer, List<BlockRef>> cellsOn) {
      quota = new int[draft.serverCount()];
      onServer = new ArrayList<>();
      for (int server = 0; server < quota.length; server++) {
        quota[server] = cellsOn.getOrDefault(server, List.of()).size();
        onServer.add(new ArrayList<>());
      }
      for (Item item : items) {
        augment(item, new boolean[draft.diskCount()], new boolean[quota.length]);
      }
    }

    /** Finds an augmenting path: an item that is in the way looks for another disk. */
    private boolean augment(Item item, boolean[] seenDisks, boolean[] seenServers) {
      int[] choices = byPreference(item.choices);
      for (int disk : choices) {
        int server = draft.serverOf(disk);
        if (onDisk[disk] == null
            && !seenDisks[disk]
            && onServer.get(server).size() < quota[server]) {
          assign(item, disk);
          return true;
        }
      }
      for (int disk : choices) {
        int server = draft.serverOf(disk);
        if (quota[server] == 0 || seenDisks[disk]) {
          continue;
        }
        seenDisks[disk] = true;
        Item there = onDisk[disk];
        if (there != null) {
          // The item takes the place on the disk, and with it the place on the server.
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
      int server = draft.serverOf(was);
      unassign(item);
      seenDisks[was] = true;
      // The place that it leaves is reserved for the item for which it makes room.
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
      onServer.get(draft.serverOf(disk)).add(item);
    }

    private int[] byPreference(int[] disks) {
      return Arrays.stream(disks)
          .boxed()
          .sorted((a, b) -> Double.compare(draft.preference(a), draft.preference(b)))
          .mapToInt(Integer::intValue)
          .toArray();
    }
  }
}
