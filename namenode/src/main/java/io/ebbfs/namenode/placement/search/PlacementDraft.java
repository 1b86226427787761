package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.TargetGrade;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A placement that is being changed. An item is a block, and is on one disk. A view is a stripe,
 * present or merged, that has items at its positions. An item may be in several views: a data block
 * of a fast stripe is also in the compact stripe into which the fast stripe merges. Not
 * thread-safe.
 *
 * <p>A fatal pair of a view is a pair of servers whose common loss the stripe does not survive.
 */
final class PlacementDraft {
  static final int NOWHERE = -1;

  /** A disk that is fuller than the mean by this share of the mean is as bad as one block more. */
  private static final double FULLER_IS_A_BLOCK = 0.02;

  /** A disk whose calls have failed lately is as bad as so many blocks more on its server. */
  private static final double ERRS_IS_BLOCKS = 3;

  /**
   * Beyond this many blocks, fullness counts a quarter: enough to tell the disks of a full server
   * apart.
   */
  private static final double MUCH_FULLER = 6;

  /** Below this mean utilisation differences count less: they are due to a few blocks. */
  private static final double EMPTY = 0.05;

  private final List<PlacementDisk> disks = new ArrayList<>();
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
   * @param keepsRacks whether a place fits only if the loss of its rack is survived
   */
  PlacementDraft(
      List<PlacementDisk> candidates,
      List<PlacementDisk> others,
      boolean keepsRacks,
      Random random) {
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

  private void addDisk(PlacementDisk disk, boolean takesNew) {
    if (diskIndex.putIfAbsent(disk.storageUuid(), disks.size()) == null) {
      disks.add(disk);
      usable.add(takesNew);
      serverIndex.putIfAbsent(disk.serverUuid(), serverIndex.size());
      rackIndex.putIfAbsent(disk.rack(), rackIndex.size());
    }
  }

  /**
   * By disk: lower for disks that are less full, in relation to their size, less busy, and without
   * errors: of several replicas, an encoding keeps one on a disk that works.
   */
  private double[] preferences(List<PlacementDisk> candidates, Random random) {
    double capacity = 0;
    double free = 0;
    for (PlacementDisk disk : candidates) {
      capacity += disk.capacityBytes();
      free += disk.freeBytes();
    }
    double mean = capacity <= 0 ? 0 : Math.max(0, 1 - free / capacity);
    double blockOfFill = FULLER_IS_A_BLOCK * Math.max(EMPTY, mean);
    double[] result = new double[disks.size()];
    for (int d = 0; d < result.length; d++) {
      PlacementDisk disk = disks.get(d);
      double fuller = (disk.utilisation() - mean) / blockOfFill;
      result[d] =
          fuller
              - 0.75 * Math.max(0, fuller - MUCH_FULLER)
              - 0.75 * Math.min(0, fuller + MUCH_FULLER)
              + 0.3 * Math.min(1, disk.load())
              + (disk.grade() == TargetGrade.ERRING ? ERRS_IS_BLOCKS : 0)
              + 0.05 * random.nextDouble();
    }
    return result;
  }

  /** A stripe that items are positions of. */
  final class View {
    final ErasureCode code;

    /** The weight of a fatal pair of this view against those of other views. */
    final double weight;

    private final DecodabilityCache losses;
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
      this.losses = DecodabilityCache.of(code);
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

    /** Whether the stripe survives the loss of both servers. */
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

    /** How many fatal pairs this server is part of. */
    int fatalPairs(int server) {
      int fatal = 0;
      for (int other = 0; other < countOnServer.length; other++) {
        if (other != server && countOnServer[other] > 0 && !survives(server, other)) {
          fatal++;
        }
      }
      return fatal;
    }

    int countOn(int server) {
      return countOnServer[server];
    }

    /** How many blocks of the repair group of a position are on a server. */
    int groupOn(int server, int position) {
      return hasMasks ? groups.among(maskOnServer[server], position) : 0;
    }

    /**
     * The sum of {@link #groupOn} over all positions on a server. If it is above 0 and the server
     * is lost, some of its blocks are expensive to rebuild.
     */
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

  /** The position of an item in a view. */
  record Membership(View view, int position) {}

  /** A block. */
  final class Item {
    // The disks with a replica of it; null if it is a new block, which may be on any usable disk.
    final int[] choices;
    // Items of equal kinds may swap their positions; an item of kind 0 keeps its own.
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
      if (disks.get(candidate).leaving()) {
        return false;
      }
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

    /** Whether the item must be copied to be on this disk. */
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

    /** Places the item where it must stay. */
    void pin(PlacementDisk where) {
      place(diskIndex.get(where.storageUuid()));
      pin();
    }

    /** The item stays where it is from now on. */
    void pin() {
      pinned = true;
    }

    /**
     * How good a disk is; lower is better. A good disk is on a server with few blocks of the
     * stripes of the item, and above all with few of its repair group; it has much space and little
     * load.
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

  /** An item with replicas on these disks; disks that the draft does not know are left out. */
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

  PlacementDisk disk(int index) {
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
  List<String> fatalRacks() {
    if (rackCount() < 2) {
      return List.of();
    }
    return rackIndex.entrySet().stream()
        .filter(rack -> views.stream().anyMatch(view -> !view.survivesRack(rack.getValue())))
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  /** How many pairs of servers are fatal for one of the views. */
  int fatalServerPairs(List<View> among) {
    int fatal = 0;
    for (int one = 0; one < serverCount(); one++) {
      for (int other = one + 1; other < serverCount(); other++) {
        for (View view : among) {
          if (!view.survives(one, other)) {
            fatal++;
            break;
          }
        }
      }
    }
    return fatal;
  }

  /**
   * The fatal pairs of all views by the weight of the view, plus the cost of the moves. Lower is
   * better.
   */
  double cost(double costOfMove) {
    double cost = costOfMove * moves();
    for (View view : views) {
      cost += view.weight * fatalServerPairs(List.of(view));
    }
    return cost;
  }

  /** The disks and positions of all items. */
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

  /** How many items must be copied: they are on a disk without a replica of them. */
  int moves() {
    int moves = 0;
    for (Item item : items) {
      moves += item.isPlaced() && item.isMove(item.disk()) ? 1 : 0;
    }
    return moves;
  }
}
