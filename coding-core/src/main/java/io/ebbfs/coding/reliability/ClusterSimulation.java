package io.ebbfs.coding.reliability;

import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A Monte Carlo simulation of stripes on a cluster. Disks, servers and racks fail, alone and in
 * bursts. A failure is detected after a delay. The stripes with most lost blocks are repaired
 * first. When the code of a stripe does not decode any more, the simulation counts a loss and
 * starts the stripe again without lost blocks.
 *
 * <p>If only disks fail, and no two blocks share a disk, the simulation agrees with {@link
 * MarkovModel}. Deterministic for a seed. Not thread-safe. Times are years.
 */
public final class ClusterSimulation {
  private static final double HOURS_PER_YEAR = 24 * 365.0;

  private final ErasureCode code;
  private final SimulatedCluster cluster;
  private final Random random;
  private final RepairModel repairs;
  private final int parallelRepairs;
  private final int[] pattern;
  private final List<Stripe> stripes = new ArrayList<>();
  private final List<List<Place>> byDisk = new ArrayList<>();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::time));
  private final PriorityQueue<Stripe> waiting =
      new PriorityQueue<>(
          Comparator.comparingInt((Stripe s) -> -s.lost.size()).thenComparingInt(s -> s.id));
  private double now;
  private int repairing;
  private long losses;
  private long repaired;
  private double repairBytes;
  private double atRisk;

  /** A simulation with repairs by the plans of the planner; every server runs one at a time. */
  public ClusterSimulation(ErasureCode code, SimulatedCluster cluster, long seed) {
    this(code, cluster, seed, new PlannedRepairs(code, cluster), cluster.servers());
  }

  /**
   * A simulation with another kind of repairs.
   *
   * @param parallelRepairs how many repairs run at once
   * @throws IllegalArgumentException if the cluster has fewer disks than a stripe has blocks
   */
  public ClusterSimulation(
      ErasureCode code,
      SimulatedCluster cluster,
      long seed,
      RepairModel repairs,
      int parallelRepairs) {
    if (code.size() > cluster.disks()) {
      throw new IllegalArgumentException(
          "%s needs %d disks, the cluster has %d: give it more servers or disks"
              .formatted(code, code.size(), cluster.disks()));
    }
    this.code = code;
    this.cluster = cluster;
    this.random = new Random(seed);
    this.repairs = repairs;
    this.parallelRepairs = parallelRepairs;
    for (int disk = 0; disk < cluster.disks(); disk++) {
      byDisk.add(new ArrayList<>());
    }
    this.pattern = ServerPatternSearch.search(code, cluster.servers(), random);
    for (int id = 0; id < cluster.stripes(); id++) {
      place(new Stripe(id));
    }
  }

  /** Places a stripe by the pattern, from a random server on. */
  private void place(Stripe stripe) {
    int first = random.nextInt(cluster.servers());
    int shift = random.nextInt(cluster.disksPerServer());
    int[] onServer = new int[cluster.servers()];
    for (int position = 0; position < code.size(); position++) {
      int server = (first + pattern[position]) % cluster.servers();
      int disk = (shift + onServer[server]++) % cluster.disksPerServer();
      byDisk.get(server * cluster.disksPerServer() + disk).add(new Place(stripe, position));
    }
    stripes.add(stripe);
  }

  /** Runs this number of years of the whole cluster. */
  public SimulationOutcome run(double years) {
    schedule(Kind.DISK, cluster.disks() * cluster.diskFailuresPerYear());
    schedule(Kind.SERVER, cluster.servers() * cluster.serverFailuresPerYear());
    schedule(Kind.RACK, cluster.racks() * cluster.rackFailuresPerYear());
    schedule(Kind.BURST, cluster.burstsPerYear());
    while (!events.isEmpty() && events.peek().time <= years) {
      Event event = events.remove();
      now = event.time;
      switch (event.kind) {
        case DISK -> {
          failDisk(random.nextInt(cluster.disks()));
          schedule(Kind.DISK, cluster.disks() * cluster.diskFailuresPerYear());
        }
        case SERVER -> {
          int server = random.nextInt(cluster.servers());
          failDisks(disk -> cluster.server(disk) == server);
          schedule(Kind.SERVER, cluster.servers() * cluster.serverFailuresPerYear());
        }
        case RACK -> {
          int rack = random.nextInt(cluster.racks());
          failDisks(disk -> cluster.rack(disk) == rack);
          schedule(Kind.RACK, cluster.racks() * cluster.rackFailuresPerYear());
        }
        case BURST -> {
          Set<Integer> servers = randomServers(cluster.serversPerBurst());
          failDisks(disk -> servers.contains(cluster.server(disk)));
          schedule(Kind.BURST, cluster.burstsPerYear());
        }
        case DETECTED -> detected(event);
        case REPAIRED -> repaired(event);
      }
      startRepairs();
    }
    for (Stripe stripe : stripes) {
      stripe.leaveRisk(years);
    }
    return new SimulationOutcome(losses, years * stripes.size(), repaired, repairBytes, atRisk);
  }

  private void schedule(Kind kind, double ratePerYear) {
    if (ratePerYear > 0) {
      double wait = -Math.log(1 - random.nextDouble()) / ratePerYear;
      events.add(new Event(now + wait, kind, null, 0));
    }
  }

  private Set<Integer> randomServers(int count) {
    List<Integer> servers = new ArrayList<>();
    for (int server = 0; server < cluster.servers(); server++) {
      servers.add(server);
    }
    Collections.shuffle(servers, random);
    return Set.copyOf(servers.subList(0, Math.min(count, servers.size())));
  }

  private void failDisks(java.util.function.IntPredicate which) {
    // The whole domain fails at once: the stripes are judged after all its disks are gone.
    Set<Stripe> touched = new HashSet<>();
    for (int disk = 0; disk < cluster.disks(); disk++) {
      if (which.test(disk)) {
        lose(disk, touched);
      }
    }
    touched.forEach(this::judge);
  }

  private void failDisk(int disk) {
    Set<Stripe> touched = new HashSet<>();
    lose(disk, touched);
    touched.forEach(this::judge);
  }

  private void lose(int disk, Set<Stripe> touched) {
    for (Place place : byDisk.get(disk)) {
      if (place.stripe.lose(place.position, now)) {
        touched.add(place.stripe);
      }
    }
  }

  private void judge(Stripe stripe) {
    if (!code.decodes(stripe.lost)) {
      losses++;
      waiting.remove(stripe);
      if (stripe.repair != null) {
        repairing--;
      }
      stripe.restore(now);
    } else if (stripe.repair == null) {
      double detection = cluster.detectionHours() / HOURS_PER_YEAR;
      events.add(new Event(now + detection, Kind.DETECTED, stripe, stripe.generation));
    } else if (repairs.restartsAfterLoss()) {
      begin(stripe);
    }
  }

  private void detected(Event event) {
    Stripe stripe = event.stripe;
    if (stripe.generation == event.generation && stripe.repair == null && !stripe.lost.isEmpty()) {
      waiting.remove(stripe);
      waiting.add(stripe);
    }
  }

  private void startRepairs() {
    while (repairing < parallelRepairs && !waiting.isEmpty()) {
      Stripe stripe = waiting.remove();
      repairing++;
      begin(stripe);
    }
  }

  private void begin(Stripe stripe) {
    stripe.repair = repairs.next(stripe.lost, random);
    stripe.generation++;
    events.add(new Event(now + stripe.repair.years(), Kind.REPAIRED, stripe, stripe.generation));
  }

  private void repaired(Event event) {
    Stripe stripe = event.stripe;
    if (stripe.generation != event.generation) {
      return; // the stripe was lost meanwhile, or its repair started again
    }
    repairing--;
    RepairModel.Repair done = stripe.repair;
    stripe.repair = null;
    stripe.found(done.positions(), now);
    repaired += done.positions().size();
    repairBytes += done.bytes();
    if (!stripe.lost.isEmpty()) {
      waiting.add(stripe);
    }
  }

  private enum Kind {
    DISK,
    SERVER,
    RACK,
    BURST,
    DETECTED,
    REPAIRED
  }

  private record Event(double time, Kind kind, Stripe stripe, int generation) {}

  private record Place(Stripe stripe, int position) {}

  private final class Stripe {
    private final int id;
    private final SortedSet<Integer> lost = new TreeSet<>();
    // Grows when a repair begins and when the stripe is lost, which makes older events stale.
    private int generation;
    // The repair under way, or null.
    private RepairModel.Repair repair;
    private double riskSince;

    Stripe(int id) {
      this.id = id;
    }

    boolean lose(int position, double time) {
      if (lost.isEmpty()) {
        riskSince = time;
      }
      // The queue is ordered by the number of losses, so the stripe leaves it for the change.
      boolean queued = waiting.remove(this);
      boolean added = lost.add(position);
      if (queued) {
        waiting.add(this);
      }
      return added;
    }

    void found(Collection<Integer> positions, double time) {
      lost.removeAll(positions);
      if (lost.isEmpty()) {
        atRisk += time - riskSince;
      }
    }

    void restore(double time) {
      leaveRisk(time);
      lost.clear();
      generation++;
      repair = null;
    }

    void leaveRisk(double time) {
      if (!lost.isEmpty()) {
        atRisk += time - riskSince;
        riskSince = time;
      }
    }
  }
}
