package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A placement in the making. Items (blocks) sit on disks; a view is a stripe, present or future,
 * that has some of the items at its positions. An item may be in several views: a data block of a
 * fast stripe is in the compact stripe that will be made of it, too. Not thread-safe.
 */
final class Layout {
  static final int NOWHERE = -1;

  /** A disk this much fuller than the mean (as a share of it) is as bad as a block more. */
  private static final double FULLER_IS_A_BLOCK = 0.02;

  /**
   * Beyond so much, fullness counts by a quarter: it still tells the disks of a full server apart.
   */
  private static final double MUCH_FULLER = 6;

  /** Below this mean utilisation differences count less and less: they mean a few blocks. */
  private static final double EMPTY = 0.05;

  private final List<Disk> disks = new ArrayList<>();
  private final List<Boolean> usable = new ArrayList<>();
  private final Map<String, Integer> diskIndex = new HashMap<>();
  private final Map<String, Integer> serverIndex = new HashMap<>();
  private final Map<String, Integer> rackIndex = new HashMap<>();
  private final List<View> views = new ArrayList<>();
  private final List<Item> items = new ArrayList<>();
  private final int[] serverOfDisk;
  private final int[] rackOfServer;
  private final double[] preference;
  private final boolean keepsRacks;

  /**
   * @param candidates disks that new blocks may go to
   * @param others disks that hold members but take no new ones
   * @param keepsRacks whether a place only fits if its rack may be lost
   */
  Layout(List<Disk> candidates, List<Disk> others, boolean keepsRacks, Random random) {
    this.keepsRacks = keepsRacks;
    candidates.forEach(disk -> addDisk(disk, true));
    others.forEach(disk -> addDisk(disk, false));
    serverOfDisk = new int[disks.size()];
    rackOfServer = new int[serverIndex.size()];
    for (int d = 0; d < serverOfDisk.length; d++) {
      serverOfDisk[d] = serverIndex.get(disks.get(d).serverUuid());
      rackOfServer[serverOfDisk[d]] = rackIndex.get(disks.get(d).rack());
    }
    preference = preferences(candidates, random);
  }

  private void addDisk(Disk disk, boolean takesNew) {
    if (diskIndex.putIfAbsent(disk.storageUuid(), disks.size()) == null) {
      disks.add(disk);
      usable.add(takesNew);
      serverIndex.putIfAbsent(disk.serverUuid(), serverIndex.size());
      rackIndex.putIfAbsent(disk.rack(), rackIndex.size());
    }
  }

  /** Low for disks that are less full than others, for their size, and less busy. */
  private double[] preferences(List<Disk> candidates, Random random) {
    double capacity = 0;
    double free = 0;
    for (Disk disk : candidates) {
      capacity += disk.capacityBytes();
      free += disk.freeBytes();
    }
    double mean = capacity <= 0 ? 0 : Math.max(0, 1 - free / capacity);
    double blockOfFill = FULLER_IS_A_BLOCK * Math.max(EMPTY, mean);
    double[] result = new double[disks.size()];
    for (int d = 0; d < result.length; d++) {
      Disk disk = disks.get(d);
      double fuller = (disk.utilisation() - mean) / blockOfFill;
      result[d] =
          fuller
              - 0.75 * Math.max(0, fuller - MUCH_FULLER)
              - 0.75 * Math.min(0, fuller + MUCH_FULLER)
              + 0.3 * Math.min(1, disk.load())
              + 0.05 * random.nextDouble();
    }
    return result;
  }

  /** A stripe that items are positions of. */
  final class View {
    final ErasureCode code;

    /** What a pair of servers whose loss it does not survive counts, against those of others. */
    final double weight;

    private final Losses losses;
    private final RepairGroups groups;
    private final int[][] onServer = new int[serverIndex.size()][];
    private final int[] countOnServer = new int[serverIndex.size()];
    // The positions on each server as bits, if the code has few enough.
    private final long[] maskOnServer = new long[serverIndex.size()];
    private final boolean hasMasks;
    private final int[] countOnDisk = new int[disks.size()];
    private final int[] scratch;

    private View(ErasureCode code, double weight) {
      this.code = code;
      this.weight = weight;
      this.losses = Losses.of(code);
      this.groups = RepairGroups.of(code);
      this.hasMasks = losses.hasMasks();
      this.scratch = new int[code.size() + 1];
      for (int s = 0; s < onServer.length; s++) {
        onServer[s] = new int[code.size() + 1];
      }
    }

    private void add(int disk, int position) {
      int server = serverOfDisk[disk];
      onServer[server][countOnServer[server]++] = position;
      maskOnServer[server] |= 1L << position;
      countOnDisk[disk]++;
    }

    private void remove(int disk, int position) {
      int server = serverOfDisk[disk];
      int at = 0;
      while (onServer[server][at] != position) {
        at++;
      }
      onServer[server][at] = onServer[server][--countOnServer[server]];
      maskOnServer[server] &= ~(1L << position);
      countOnDisk[disk]--;
    }

    boolean fits(int disk, int position) {
      int server = serverOfDisk[disk];
      return countOnDisk[disk] == 0
          && survivesWith(server, position)
          && (!keepsRacks || survivesRackWith(server, position));
    }

    boolean survivesWith(int server, int position) {
      if (hasMasks) {
        return losses.survives(maskOnServer[server] | 1L << position);
      }
      int count = countOnServer[server];
      onServer[server][count] = position;
      return losses.survives(onServer[server], count + 1);
    }

    private boolean survivesRackWith(int server, int position) {
      int count = inRack(rackOfServer[server]);
      scratch[count] = position;
      return losses.survives(scratch, count + 1);
    }

    boolean survivesRack(int rack) {
      return losses.survives(scratch, inRack(rack));
    }

    /** Collects the positions in a rack. */
    private int inRack(int rack) {
      int count = 0;
      for (int s = 0; s < onServer.length; s++) {
        if (rackOfServer[s] == rack && count + countOnServer[s] < scratch.length) {
          System.arraycopy(onServer[s], 0, scratch, count, countOnServer[s]);
          count += countOnServer[s];
        }
      }
      return count;
    }

    boolean survives(int server) {
      if (hasMasks) {
        return losses.survives(maskOnServer[server]);
      }
      return losses.survives(onServer[server], countOnServer[server]);
    }

    /** Whether the stripe decodes without both servers. */
    boolean survives(int one, int other) {
      if (hasMasks) {
        return losses.survives(maskOnServer[one] | maskOnServer[other]);
      }
      int count = countOnServer[one] + countOnServer[other];
      if (count <= code.tolerance()) {
        return true;
      }
      if (count > code.parityCount()) {
        return false;
      }
      System.arraycopy(onServer[one], 0, scratch, 0, countOnServer[one]);
      System.arraycopy(onServer[other], 0, scratch, countOnServer[one], countOnServer[other]);
      return losses.survives(scratch, count);
    }

    /** Pairs of this server with others that are not survived. */
    int weakPairs(int server) {
      int weak = 0;
      for (int other = 0; other < countOnServer.length; other++) {
        if (other != server && countOnServer[other] > 0 && !survives(server, other)) {
          weak++;
        }
      }
      return weak;
    }

    int countOn(int server) {
      return countOnServer[server];
    }

    /** Blocks on a server that would be read to rebuild the one at a position. */
    int groupOn(int server, int position) {
      return hasMasks ? groups.among(maskOnServer[server], position) : 0;
    }

    /** The same of all positions on a server: if it is lost, they are dear to rebuild. */
    int crowding(int server) {
      int crowding = 0;
      for (int i = 0; i < countOnServer[server]; i++) {
        crowding += groupOn(server, onServer[server][i]);
      }
      return crowding;
    }

    int countOnDisk(int disk) {
      return countOnDisk[disk];
    }
  }

  /** The place of an item in a view. */
  record Membership(View view, int position) {}

  /** A block. */
  final class Item {
    // Disks it may be on without being copied; null: any that takes new blocks.
    final int[] choices;
    // Items of equal kinds may swap their positions; 0: this one keeps its own.
    final int kind;
    private List<Membership> memberships = new ArrayList<>();
    private boolean pinned;
    private int disk = NOWHERE;

    private Item(int[] choices, int kind) {
      this.choices = choices;
      this.kind = kind;
    }

    Item in(View view, int position) {
      memberships.add(new Membership(view, position));
      return this;
    }

    List<Membership> memberships() {
      return memberships;
    }

    /** Gives an item that is on no disk other positions. */
    void become(List<Membership> positions) {
      memberships = positions;
    }

    boolean isPlaced() {
      return disk != NOWHERE;
    }

    boolean isPinned() {
      return pinned;
    }

    int disk() {
      return disk;
    }

    int server() {
      return serverOfDisk[disk];
    }

    boolean isIn(View view) {
      for (Membership membership : memberships) {
        if (membership.view() == view) {
          return true;
        }
      }
      return false;
    }

    boolean fits(int candidate) {
      if (choices != null && isNewOnServerOfReplica(candidate)) {
        return false;
      }
      for (Membership membership : memberships) {
        if (!membership.view().fits(candidate, membership.position())) {
          return false;
        }
      }
      return true;
    }

    /** A server holds one replica of a block at most. */
    private boolean isNewOnServerOfReplica(int candidate) {
      boolean onServer = false;
      for (int choice : choices) {
        if (choice == candidate) {
          return false;
        }
        onServer |= serverOfDisk[choice] == serverOfDisk[candidate];
      }
      return onServer;
    }

    /** Whether being on this disk takes a copy. */
    boolean isMove(int candidate) {
      if (choices == null) {
        return false;
      }
      for (int choice : choices) {
        if (choice == candidate) {
          return false;
        }
      }
      return true;
    }

    void place(int target) {
      disk = target;
      memberships.forEach(m -> m.view().add(target, m.position()));
    }

    void remove() {
      memberships.forEach(m -> m.view().remove(disk, m.position()));
      disk = NOWHERE;
    }

    /** Places it where it must stay. */
    void pin(Disk where) {
      place(diskIndex.get(where.storageUuid()));
      pin();
    }

    /** From now on it stays where it is. */
    void pin() {
      pinned = true;
    }

    /**
     * Lower is better: few blocks of its stripes on the server, above all of its repair group, much
     * space, little load.
     */
    double score(int candidate) {
      int server = serverOfDisk[candidate];
      int together = 0;
      for (Membership membership : memberships) {
        together += membership.view().countOn(server);
        together += membership.view().groupOn(server, membership.position());
      }
      return together + preference[candidate];
    }
  }

  View addView(ErasureCode code, double weight) {
    View view = new View(code, weight);
    views.add(view);
    return view;
  }

  /** An item that may be on any disk. */
  Item addFree() {
    Item item = new Item(null, 0);
    items.add(item);
    return item;
  }

  /** An item that has a copy on these disks already; those not in service are left out. */
  Item addWithReplicas(List<String> storageUuids, int kind) {
    int[] choices =
        storageUuids.stream()
            .map(diskIndex::get)
            .filter(index -> index != null)
            .mapToInt(Integer::intValue)
            .toArray();
    Item item = new Item(choices, kind);
    items.add(item);
    return item;
  }

  List<View> views() {
    return views;
  }

  List<Item> items() {
    return items;
  }

  int diskCount() {
    return disks.size();
  }

  int serverCount() {
    return serverIndex.size();
  }

  int rackCount() {
    return rackIndex.size();
  }

  Disk disk(int index) {
    return disks.get(index);
  }

  boolean takesNew(int disk) {
    return usable.get(disk);
  }

  int serverOf(int disk) {
    return serverOfDisk[disk];
  }

  int rackOf(int server) {
    return rackOfServer[server];
  }

  double preference(int disk) {
    return preference[disk];
  }

  /** The disks of a server that take new blocks. */
  int[] disksOf(int server) {
    int[] found = new int[diskCount()];
    int count = 0;
    for (int d = 0; d < found.length; d++) {
      if (serverOfDisk[d] == server && usable.get(d)) {
        found[count++] = d;
      }
    }
    return Arrays.copyOf(found, count);
  }

  /** The mean preference of the disks of a server that take new blocks; 0 if none does. */
  double preferenceOfServer(int server) {
    return Arrays.stream(disksOf(server)).mapToDouble(this::preference).average().orElse(0);
  }

  boolean survivesAnyServer() {
    for (View view : views) {
      for (int server = 0; server < serverCount(); server++) {
        if (!view.survives(server)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Racks whose loss some view does not survive; none if there is only one rack. */
  List<String> weakRacks() {
    if (rackCount() < 2) {
      return List.of();
    }
    return rackIndex.entrySet().stream()
        .filter(rack -> views.stream().anyMatch(view -> !view.survivesRack(rack.getValue())))
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  /** Pairs of servers whose loss some of the views does not survive. */
  int weakServerPairs(List<View> among) {
    int weak = 0;
    for (int one = 0; one < serverCount(); one++) {
      for (int other = one + 1; other < serverCount(); other++) {
        for (View view : among) {
          if (!view.survives(one, other)) {
            weak++;
            break;
          }
        }
      }
    }
    return weak;
  }

  /**
   * Weak pairs of all views, by the weight of the view, and what the moves cost. Lower is better.
   */
  double cost(double costOfMove) {
    double cost = costOfMove * moves();
    for (View view : views) {
      cost += view.weight * weakServerPairs(List.of(view));
    }
    return cost;
  }

  /** Where all items are. */
  record Snapshot(int[] disks, List<List<Membership>> memberships) {}

  Snapshot snapshot() {
    return new Snapshot(
        items.stream().mapToInt(Item::disk).toArray(),
        items.stream().map(Item::memberships).toList());
  }

  void restore(Snapshot snapshot) {
    items.stream().filter(Item::isPlaced).forEach(Item::remove);
    for (int i = 0; i < items.size(); i++) {
      items.get(i).become(snapshot.memberships().get(i));
      if (snapshot.disks()[i] != NOWHERE) {
        items.get(i).place(snapshot.disks()[i]);
      }
    }
  }

  /** Blocks that are not on one of the disks that have them. */
  int moves() {
    int moves = 0;
    for (Item item : items) {
      moves += item.isPlaced() && item.isMove(item.disk()) ? 1 : 0;
    }
    return moves;
  }
}
