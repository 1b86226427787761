package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
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

  private final List<Disk> disks = new ArrayList<>();
  private final List<Boolean> usable = new ArrayList<>();
  private final Map<String, Integer> diskIndex = new HashMap<>();
  private final List<Integer> serverOfDisk = new ArrayList<>();
  private final Map<String, Integer> serverIndex = new HashMap<>();
  private final List<View> views = new ArrayList<>();
  private final List<Item> items = new ArrayList<>();
  private final double[] preference;

  /**
   * @param candidates disks that new blocks may go to
   * @param others disks that hold members but take no new ones
   */
  Layout(List<Disk> candidates, List<Disk> others, Random random) {
    candidates.forEach(disk -> addDisk(disk, true));
    others.stream()
        .filter(disk -> !diskIndex.containsKey(disk.storageUuid()))
        .forEach(disk -> addDisk(disk, false));
    preference = new double[disks.size()];
    long mostFree = Math.max(1, disks.stream().mapToLong(Disk::freeBytes).max().orElse(1));
    long leastFree = disks.stream().mapToLong(Disk::freeBytes).min().orElse(0);
    // A tenth of the space makes the whole difference, so that disks are kept equally full.
    double scale = Math.max(mostFree * 0.1, mostFree - leastFree);
    for (int d = 0; d < preference.length; d++) {
      Disk disk = disks.get(d);
      double full = (mostFree - disk.freeBytes()) / scale;
      preference[d] = 0.5 * full + 0.3 * Math.min(1, disk.load()) + 0.15 * random.nextDouble();
    }
  }

  private void addDisk(Disk disk, boolean takesNew) {
    if (diskIndex.putIfAbsent(disk.storageUuid(), disks.size()) == null) {
      disks.add(disk);
      usable.add(takesNew);
      serverOfDisk.add(serverIndex.computeIfAbsent(disk.serverUuid(), uuid -> serverIndex.size()));
    }
  }

  /** A stripe that items are positions of. */
  final class View {
    final ErasureCode code;
    private final int[][] onServer = new int[serverIndex.size()][];
    private final int[] countOnServer = new int[serverIndex.size()];
    private final int[] countOnDisk = new int[disks.size()];

    private View(ErasureCode code) {
      this.code = code;
      for (int s = 0; s < onServer.length; s++) {
        onServer[s] = new int[code.size()];
      }
    }

    private void add(int disk, int position) {
      int server = serverOfDisk.get(disk);
      onServer[server][countOnServer[server]++] = position;
      countOnDisk[disk]++;
    }

    private void remove(int disk, int position) {
      int server = serverOfDisk.get(disk);
      int at = 0;
      while (onServer[server][at] != position) {
        at++;
      }
      onServer[server][at] = onServer[server][--countOnServer[server]];
      countOnDisk[disk]--;
    }

    boolean fits(int disk, int position) {
      return countOnDisk[disk] == 0 && survivesWith(serverOfDisk.get(disk), position);
    }

    boolean survivesWith(int server, int position) {
      int count = countOnServer[server];
      onServer[server][count] = position;
      return code.decodes(onServer[server], count + 1);
    }

    boolean survives(int server) {
      return code.decodes(onServer[server], countOnServer[server]);
    }

    /** Whether the stripe decodes without both servers. */
    boolean survives(int one, int other) {
      int count = countOnServer[one] + countOnServer[other];
      if (count <= code.tolerance()) {
        return true;
      }
      if (count > code.parityCount()) {
        return false;
      }
      int[] lost = java.util.Arrays.copyOf(onServer[one], count);
      System.arraycopy(onServer[other], 0, lost, countOnServer[one], countOnServer[other]);
      return code.decodes(lost, count);
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
    final List<Membership> memberships = new ArrayList<>();
    private boolean pinned;
    private int disk = NOWHERE;

    private Item(int[] choices) {
      this.choices = choices;
    }

    Item in(View view, int position) {
      memberships.add(new Membership(view, position));
      return this;
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
      return serverOfDisk.get(disk);
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
        onServer |= serverOfDisk.get(choice).equals(serverOfDisk.get(candidate));
      }
      return onServer;
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
      pinned = true;
    }

    /** Lower is better: few blocks of its stripes on the server, much space, little load. */
    double score(int candidate) {
      int server = serverOfDisk.get(candidate);
      int together = 0;
      for (Membership membership : memberships) {
        together += membership.view().countOn(server);
      }
      return together + preference[candidate];
    }
  }

  View addView(ErasureCode code) {
    View view = new View(code);
    views.add(view);
    return view;
  }

  /** An item that may be on any disk. */
  Item addFree() {
    Item item = new Item(null);
    items.add(item);
    return item;
  }

  /** An item that has a copy on these disks already; those not in service are left out. */
  Item addWithReplicas(List<String> storageUuids) {
    int[] choices =
        storageUuids.stream()
            .map(diskIndex::get)
            .filter(index -> index != null)
            .mapToInt(Integer::intValue)
            .toArray();
    Item item = new Item(choices);
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

  Disk disk(int index) {
    return disks.get(index);
  }

  boolean takesNew(int disk) {
    return usable.get(disk);
  }

  int serverOf(int disk) {
    return serverOfDisk.get(disk);
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

  /** Pairs of servers whose loss some view does not survive. */
  int weakServerPairs() {
    int weak = 0;
    for (int one = 0; one < serverCount(); one++) {
      for (int other = one + 1; other < serverCount(); other++) {
        int a = one;
        int b = other;
        if (views.stream().anyMatch(view -> !view.survives(a, b))) {
          weak++;
        }
      }
    }
    return weak;
  }
}
