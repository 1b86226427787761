package io.ebbfs.coding.reliability;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.coding.ReadCost;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A Monte Carlo simulation of stripes on a cluster: disks, servers and racks fail, alone and in
 * bursts; losses are detected late, and repaired by the planner's plans, those at most risk first,
 * with the bandwidth that the servers have for it. It ends a stripe when its code does not decode
 * any more, counts the loss, and begins it anew.
 *
 * <p>Where nothing but single disks fail and every block has a disk of its own, it agrees with
 * {@link MarkovModel}. Deterministic for a seed. Not thread-safe; times are years.
 */
public final class ClusterSimulation {
  private static final double HOURS_PER_YEAR = 24 * 365.0;
  private static final int PATTERNS = 300;
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
   * @param burstsPerYear of the whole cluster: several servers fail at the same moment, as by a
   *     power cut or a faulty update
   * @param serversPerBurst how many, drawn from all racks alike
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
      double repairBytesPerSecond,
      double burstsPerYear,
      int serversPerBurst) {
    /** A cluster without bursts. */
    public Cluster(
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
      this(
          servers,
          disksPerServer,
          racks,
          stripes,
          blockBytes,
          diskFailuresPerYear,
          serverFailuresPerYear,
          rackFailuresPerYear,
          detectionHours,
          repairBytesPerSecond,
          0,
          0);
    }

    /** The same with bursts. */
    public Cluster withBursts(double perYear, int servers) {
      return new Cluster(
          this.servers,
          disksPerServer,
          racks,
          stripes,
          blockBytes,
          diskFailuresPerYear,
          serverFailuresPerYear,
          rackFailuresPerYear,
          detectionHours,
          repairBytesPerSecond,
          perYear,
          servers);
    }

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

    /**
     * The bounds between which the true mean time to loss lies, in 95 of 100 such simulations:
     * losses are a Poisson count, whose square root is nearly normal with a deviation of a half.
     */
    public double[] interval95() {
      double root = Math.sqrt(losses + 0.375);
      double most = Math.pow(root + 0.98, 2);
      double least = Math.pow(Math.max(0, root - 0.98), 2);
      return new double[] {stripeYears / most, stripeYears / least};
    }

    /** One standard deviation of the mean, relative: losses are a Poisson count. */
    public double relativeError() {
      return losses == 0 ? Double.POSITIVE_INFINITY : 1 / Math.sqrt(losses);
    }
  }

  /** What one repair brings back, how long it takes, and what it reads and writes. */
  public record Repair(Collection<Integer> positions, double years, double bytes) {}

  /** Decides on repairs. */
  public interface Repairs {
    /** Of a stripe with these losses. */
    Repair next(SortedSet<Integer> lost, Random random);

    /** Whether a repair under way is drawn anew when its stripe loses another block. */
    boolean drawnAnew();
  }

  /** As the model has it: one block at a time, times exponential, by rates per year. */
  public record ExponentialRepairs(double firstPerYear, double laterPerYear) implements Repairs {
    @Override
    public Repair next(SortedSet<Integer> lost, Random random) {
      int position = List.copyOf(lost).get(random.nextInt(lost.size()));
      double rate = lost.size() == 1 ? firstPerYear : laterPerYear;
      return new Repair(List.of(position), -Math.log(1 - random.nextDouble()) / rate, 0);
    }

    @Override
    public boolean drawnAnew() {
      return true;
    }
  }

  /** All lost blocks of the stripe by the plan that the planner makes, at this bandwidth. */
  private static final class PlannedRepairs implements Repairs {
    private final ErasureCode code;
    private final Cluster cluster;
    private final Set<Integer> all = new TreeSet<>();
    private final Map<Set<Integer>, Integer> moved = new HashMap<>();

    PlannedRepairs(ErasureCode code, Cluster cluster) {
      this.code = code;
      this.cluster = cluster;
      code.positions().forEach(position -> all.add(position.index()));
    }

    @Override
    public Repair next(SortedSet<Integer> lost, Random random) {
      Set<Integer> positions = Set.copyOf(lost);
      double bytes = moved.computeIfAbsent(positions, this::blocksMoved) * cluster.blockBytes;
      return new Repair(positions, bytes / cluster.repairBytesPerSecond / SECONDS_PER_YEAR, bytes);
    }

    private int blocksMoved(Set<Integer> lost) {
      return Planner.repair(code, all, lost, Set.of(), ReadCost.UNIFORM).stream()
          .mapToInt(plan -> plan.reads() + plan.writes())
          .sum();
    }

    @Override
    public boolean drawnAnew() {
      return false;
    }
  }

  private final ErasureCode code;
  private final Cluster cluster;
  private final Random random;
  private final Repairs repairs;
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

  /** Repairs by the planner's plans; as many run at once as there are servers. */
  public ClusterSimulation(ErasureCode code, Cluster cluster, long seed) {
    this(code, cluster, seed, new PlannedRepairs(code, cluster), cluster.servers);
  }

  /** With repairs of another kind, of which so many run at once. */
  public ClusterSimulation(
      ErasureCode code, Cluster cluster, long seed, Repairs repairs, int parallelRepairs) {
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
    this.pattern = pattern();
    for (int id = 0; id < cluster.stripes; id++) {
      place(new Stripe(id));
    }
  }

  /** By the pattern, from a random server on, each block on a disk of its own there. */
  private void place(Stripe stripe) {
    int first = random.nextInt(cluster.servers);
    int shift = random.nextInt(cluster.disksPerServer);
    int[] onServer = new int[cluster.servers];
    for (int position = 0; position < code.size(); position++) {
      int server = (first + pattern[position]) % cluster.servers;
      int disk = (shift + onServer[server]++) % cluster.disksPerServer;
      byDisk.get(server * cluster.disksPerServer + disk).add(new Place(stripe, position));
    }
    stripes.add(stripe);
  }

  /**
   * Which server, counted from the stripe's first, has which position: dealt in turn, of many
   * random orders the one in which fewest servers and pairs of servers are fatal.
   */
  private int[] pattern() {
    List<Integer> positions = new ArrayList<>();
    code.positions().forEach(position -> positions.add(position.index()));
    int[] best = null;
    long least = Long.MAX_VALUE;
    for (int attempt = 0; attempt < PATTERNS && least > 0; attempt++) {
      int[] dealt = new int[code.size()];
      for (int i = 0; i < dealt.length; i++) {
        dealt[positions.get(i)] = i % cluster.servers;
      }
      long weak = weakness(dealt);
      if (weak < least) {
        least = weak;
        best = dealt;
      }
      Collections.shuffle(positions, random);
    }
    return best;
  }

  private long weakness(int[] dealt) {
    long weakness = 0;
    for (int one = 0; one < cluster.servers; one++) {
      for (int other = one; other < cluster.servers; other++) {
        Set<Integer> lost = new TreeSet<>();
        for (int position = 0; position < dealt.length; position++) {
          if (dealt[position] == one || dealt[position] == other) {
            lost.add(position);
          }
        }
        int weight = one == other ? cluster.servers * cluster.servers : 1;
        weakness += code.decodes(lost) ? 0 : weight;
      }
    }
    return weakness;
  }

  /** Runs so many years of the whole cluster. */
  public Outcome run(double years) {
    schedule(Kind.DISK, cluster.disks() * cluster.diskFailuresPerYear);
    schedule(Kind.SERVER, cluster.servers * cluster.serverFailuresPerYear);
    schedule(Kind.RACK, cluster.racks * cluster.rackFailuresPerYear);
    schedule(Kind.BURST, cluster.burstsPerYear);
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
        case BURST -> {
          Set<Integer> servers = randomServers(cluster.serversPerBurst);
          failDisks(disk -> servers.contains(cluster.server(disk)));
          schedule(Kind.BURST, cluster.burstsPerYear);
        }
        case DETECTED -> detected(event);
        case REPAIRED -> repaired(event);
      }
      startRepairs();
    }
    for (Stripe stripe : stripes) {
      stripe.leaveRisk(years);
    }
    return new Outcome(losses, years * stripes.size(), repaired, repairBytes, atRisk);
  }

  private void schedule(Kind kind, double ratePerYear) {
    if (ratePerYear > 0) {
      double wait = -Math.log(1 - random.nextDouble()) / ratePerYear;
      events.add(new Event(now + wait, kind, null, 0));
    }
  }

  private Set<Integer> randomServers(int count) {
    List<Integer> servers = new ArrayList<>();
    for (int server = 0; server < cluster.servers; server++) {
      servers.add(server);
    }
    Collections.shuffle(servers, random);
    return Set.copyOf(servers.subList(0, Math.min(count, servers.size())));
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
      if (stripe.repair != null) {
        repairing--;
      }
      stripe.restore(now);
    } else if (stripe.repair == null) {
      double detection = cluster.detectionHours / HOURS_PER_YEAR;
      events.add(new Event(now + detection, Kind.DETECTED, stripe, stripe.generation));
    } else if (repairs.drawnAnew()) {
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
    events.add(new Event(now + stripe.repair.years, Kind.REPAIRED, stripe, stripe.generation));
  }

  private void repaired(Event event) {
    Stripe stripe = event.stripe;
    if (stripe.generation != event.generation) {
      return; // the stripe was lost meanwhile, or its repair was drawn anew
    }
    repairing--;
    Repair done = stripe.repair;
    stripe.repair = null;
    stripe.found(done.positions, now);
    repaired += done.positions.size();
    repairBytes += done.bytes;
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
    // Raised when a repair begins and when the stripe is lost: events of before are stale.
    private int generation;
    // What is under way, or null.
    private Repair repair;
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
