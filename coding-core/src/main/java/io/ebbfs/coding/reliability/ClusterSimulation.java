package io.ebbfs.coding.reliability;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * A Monte Carlo simulation of stripes on a cluster: disks, servers and racks fail, together and
 * alone; repairs are detected late, are ordered by risk, and share the cluster's bandwidth. It ends
 * a stripe when its code does not decode any more, counts the loss, and begins it anew.
 *
 * <p>Where nothing but single disks fail and every block has a disk of its own, it agrees with
 * {@link MarkovModel}. Deterministic for a seed. Not thread-safe; times are years.
 */
public final class ClusterSimulation {
  private static final double HOURS_PER_YEAR = 24 * 365.0;
  private static final double SECONDS_PER_YEAR = 3600 * HOURS_PER_YEAR;

  /**
   * The cluster and what happens to it.
   *
   * @param disksPerServer disks of each server
   * @param racks the servers are dealt to the racks in turn
   * @param stripes how many stripes are placed, each block on a disk of its own, spread over
   *     servers
   * @param blockBytes length of a block
   * @param diskFailuresPerYear of one disk: its blocks are lost
   * @param serverFailuresPerYear of one server: the blocks of all its disks are lost
   * @param rackFailuresPerYear of one rack: the blocks of all its servers are lost
   * @param detectionHours from a failure until its repairs may begin
   * @param repairBytesPerSecond of one server, read and written; the cluster repairs with all of
   *     them
   */
  public record Cluster(
      int servers,
      int disksPerServer,
      int racks,
      int stripes,
      double blockBytes,
      double diskFailuresPerYear,
      double serverFailuresPerYear,
      double rackFailuresPerYear,
      double detectionHours,
      double repairBytesPerSecond) {
    int disks() {
      return servers * disksPerServer;
    }

    int server(int disk) {
      return disk / disksPerServer;
    }

    int rack(int disk) {
      return server(disk) % racks;
    }
  }

  /**
   * What came of it.
   *
   * @param losses stripes that stopped decoding
   * @param stripeYears simulated time, summed over the stripes
   * @param repairedBlocks blocks rebuilt
   * @param repairBytes read and written for them
   * @param atRiskStripeYears time that stripes stood with at least one block lost, summed
   */
  public record Outcome(
      long losses,
      double stripeYears,
      long repairedBlocks,
      double repairBytes,
      double atRiskStripeYears) {
    /** Mean time to data loss of a stripe in years; infinite if none was lost. */
    public double meanTimeToLossYears() {
      return losses == 0 ? Double.POSITIVE_INFINITY : stripeYears / losses;
    }

    /** One standard deviation of the mean, relative: losses are a Poisson count. */
    public double relativeError() {
      return losses == 0 ? Double.POSITIVE_INFINITY : 1 / Math.sqrt(losses);
    }
  }

  /** How long the repair of one block takes, in years; by lost blocks of its stripe. */
  @FunctionalInterface
  public interface RepairTime {
    double years(int lostBlocks, Random random);
  }

  private final ErasureCode code;
  private final Cluster cluster;
  private final Random random;
  private final RepairTime repairTime;
  private final int parallelRepairs;
  private final double bytesPerRepair;
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
  private double atRisk;

  /**
   * @param blocksReadPerRepair on average, of the code
   */
  public ClusterSimulation(
      ErasureCode code, Cluster cluster, double blocksReadPerRepair, long seed) {
    this(
        code,
        cluster,
        (blocksReadPerRepair + 1) * cluster.blockBytes,
        seed,
        // Each of the repairs that run at once has the bandwidth of one server.
        (lost, random) ->
            (blocksReadPerRepair + 1)
                * cluster.blockBytes
                / cluster.repairBytesPerSecond
                / SECONDS_PER_YEAR,
        cluster.servers);
  }

  /**
   * As the model sees it: repairs that take times of any distribution, one at a time per stripe.
   */
  ClusterSimulation(
      ErasureCode code,
      Cluster cluster,
      double bytesPerRepair,
      long seed,
      RepairTime repairTime,
      int parallelRepairs) {
    if (code.size() > cluster.disks()) {
      throw new IllegalArgumentException(
          "%s needs %d disks, the cluster has %d: give it more servers or disks"
              .formatted(code, code.size(), cluster.disks()));
    }
    this.code = code;
    this.cluster = cluster;
    this.random = new Random(seed);
    this.repairTime = repairTime;
    this.parallelRepairs = parallelRepairs;
    this.bytesPerRepair = bytesPerRepair;
    for (int disk = 0; disk < cluster.disks(); disk++) {
      byDisk.add(new ArrayList<>());
    }
    for (int id = 0; id < cluster.stripes; id++) {
      place(new Stripe(id));
    }
  }

  /** Deals the blocks to the servers in turn, from a random one on, each to a free disk there. */
  private void place(Stripe stripe) {
    int first = random.nextInt(cluster.servers);
    int shift = random.nextInt(cluster.disksPerServer);
    for (int position = 0; position < code.size(); position++) {
      int server = (first + position) % cluster.servers;
      int disk = (shift + position / cluster.servers) % cluster.disksPerServer;
      byDisk.get(server * cluster.disksPerServer + disk).add(new Place(stripe, position));
    }
    stripes.add(stripe);
  }

  /** Runs so many years of the whole cluster. */
  public Outcome run(double years) {
    schedule(Kind.DISK, cluster.disks() * cluster.diskFailuresPerYear);
    schedule(Kind.SERVER, cluster.servers * cluster.serverFailuresPerYear);
    schedule(Kind.RACK, cluster.racks * cluster.rackFailuresPerYear);
    while (!events.isEmpty() && events.peek().time <= years) {
      Event event = events.remove();
      now = event.time;
      switch (event.kind) {
        case DISK -> {
          failDisk(random.nextInt(cluster.disks()));
          schedule(Kind.DISK, cluster.disks() * cluster.diskFailuresPerYear);
        }
        case SERVER -> {
          int server = random.nextInt(cluster.servers);
          failDisks(disk -> cluster.server(disk) == server);
          schedule(Kind.SERVER, cluster.servers * cluster.serverFailuresPerYear);
        }
        case RACK -> {
          int rack = random.nextInt(cluster.racks);
          failDisks(disk -> cluster.rack(disk) == rack);
          schedule(Kind.RACK, cluster.racks * cluster.rackFailuresPerYear);
        }
        case DETECTED -> detected(event);
        case REPAIRED -> repaired(event);
      }
      startRepairs();
    }
    for (Stripe stripe : stripes) {
      stripe.leaveRisk(years);
    }
    return new Outcome(losses, years * stripes.size(), repaired, repaired * bytesPerRepair, atRisk);
  }

  private void schedule(Kind kind, double ratePerYear) {
    if (ratePerYear > 0) {
      double wait = -Math.log(1 - random.nextDouble()) / ratePerYear;
      events.add(new Event(now + wait, kind, null, 0));
    }
  }

  private void failDisks(java.util.function.IntPredicate which) {
    // All at once: whether a stripe survives is asked when the whole domain is gone.
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
      stripe.restore(now);
      return;
    }
    double detection = cluster.detectionHours / HOURS_PER_YEAR;
    events.add(new Event(now + detection, Kind.DETECTED, stripe, stripe.generation));
  }

  private void detected(Event event) {
    Stripe stripe = event.stripe;
    if (stripe.generation == event.generation && !stripe.inRepair && !stripe.lost.isEmpty()) {
      waiting.remove(stripe);
      waiting.add(stripe);
    }
  }

  private void startRepairs() {
    while (repairing < parallelRepairs && !waiting.isEmpty()) {
      Stripe stripe = waiting.remove();
      stripe.inRepair = true;
      repairing++;
      double took = repairTime.years(stripe.lost.size(), random);
      events.add(new Event(now + took, Kind.REPAIRED, stripe, stripe.generation));
    }
  }

  private void repaired(Event event) {
    repairing--;
    Stripe stripe = event.stripe;
    if (stripe.generation != event.generation) {
      return; // the stripe was lost meanwhile
    }
    stripe.inRepair = false;
    stripe.repairOne(now);
    repaired++;
    if (!stripe.lost.isEmpty()) {
      waiting.add(stripe);
    }
  }

  private enum Kind {
    DISK,
    SERVER,
    RACK,
    DETECTED,
    REPAIRED
  }

  private record Event(double time, Kind kind, Stripe stripe, int generation) {}

  private record Place(Stripe stripe, int position) {}

  private final class Stripe {
    private final int id;
    private final Set<Integer> lost = new TreeSet<>();
    private int generation;
    private boolean inRepair;
    private double riskSince;

    Stripe(int id) {
      this.id = id;
    }

    boolean lose(int position, double time) {
      if (lost.isEmpty()) {
        riskSince = time;
      }
      // The order in the queue depends on the number of losses: out while it changes.
      boolean queued = waiting.remove(this);
      boolean added = lost.add(position);
      if (queued) {
        waiting.add(this);
      }
      return added;
    }

    void repairOne(double time) {
      List<Integer> candidates = List.copyOf(lost);
      lost.remove(candidates.get(random.nextInt(candidates.size())));
      if (lost.isEmpty()) {
        atRisk += time - riskSince;
      }
    }

    void restore(double time) {
      leaveRisk(time);
      lost.clear();
      generation++;
      inRepair = false;
    }

    void leaveRisk(double time) {
      if (!lost.isEmpty()) {
        atRisk += time - riskSince;
        riskSince = time;
      }
    }
  }
}
