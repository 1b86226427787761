package io.ebbfs.verify.soak;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.common.failpoint.FailPoints.Armed;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.testbed.process.ShiftedClocks;
import io.ebbfs.verify.cluster.ImageDisks;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.soak.Finding.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Breaks something every 10 to 20 seconds and mends it after a few. The kinds come in a random
 * order from a deck of cards, so that each has its turn. A disk loses data only while all data is
 * redundant. Runs in one thread.
 */
final class SoakFaults implements Runnable {
  private static final int LEAST_GAP_MILLIS = 10_000;
  private static final int MOST_GAP_MILLIS = 20_000;
  private static final int START_TRIES = 4;
  private static final long DEATH_MILLIS = 20_000;
  private static final long REDUNDANT_MILLIS = 20_000;
  private static final List<Long> SHIFTS_SECONDS =
      List.of(-86_400L, -3_600L, -30L, 30L, 3_600L, 86_400L);

  /** The kinds of faults. The number is that of cards in a deck. */
  enum Card {
    KILL_SERVER(2),
    STALL_SERVER(2),
    KILL_ALL_SERVERS(1),
    KILL_NAMENODE(2),
    STALL_NAMENODE(1),
    KILL_CONTROL(1),
    STALL_CONTROL(1),
    KILL_CLIENT(1),
    KILL_IN_TRANSITION(3),
    DISK_FULL(1),
    DISK_READ_ONLY(1),
    DISK_ERRORS(1),
    DISK_LOST(1),
    LINK_CUT(1),
    LINK_SLOW(1),
    CLOCK_SHIFTED(2);

    private final int cards;

    Card(int cards) {
      this.cards = cards;
    }

    boolean needsDisks() {
      return this == DISK_FULL || this == DISK_READ_ONLY || this == DISK_ERRORS;
    }

    boolean needsClocks() {
      return this == CLOCK_SHIFTED;
    }

    boolean needsLinks() {
      return this == LINK_CUT || this == LINK_SLOW;
    }

    /** Whether bytes are lost that the cluster must have elsewhere. */
    boolean losesData() {
      return this == DISK_READ_ONLY || this == DISK_ERRORS || this == DISK_LOST;
    }
  }

  private interface Step {
    void run() throws ClusterException, IOException, InterruptedException;
  }

  /** A fault that was chosen: what is said about it, how it begins, and how it ends. */
  private record Fault(String what, long holdMillis, Step begin, Step end) {}

  private final VerifyCluster verified;
  private final LocalCluster cluster;
  private final ImageDisks disks;
  private final SoakClients clients;
  private final SoakBook book;
  private final Random random;
  private final BooleanSupplier goesOn;
  private final List<Card> deck = new ArrayList<>();

  /**
   * Faults of a cluster.
   *
   * @param disks null if the disks have no file systems of their own
   */
  SoakFaults(
      VerifyCluster verified,
      ImageDisks disks,
      SoakClients clients,
      SoakBook book,
      Random random,
      BooleanSupplier goesOn) {
    this.verified = verified;
    this.cluster = verified.local();
    this.disks = disks;
    this.clients = clients;
    this.book = book;
    this.random = random;
    this.goesOn = goesOn;
  }

  @Override
  public void run() {
    try {
      long began = System.nanoTime();
      while (true) {
        long gap = between(LEAST_GAP_MILLIS, MOST_GAP_MILLIS);
        while (System.nanoTime() - began < gap * 1_000_000) {
          if (!goesOn.getAsBoolean()) {
            return;
          }
          Thread.sleep(50);
        }
        began = System.nanoTime();
        startDead("before a fault");
        play(draw());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Card draw() throws InterruptedException {
    while (true) {
      if (deck.isEmpty()) {
        for (Card card : Card.values()) {
          deck.addAll(Collections.nCopies(card.cards, card));
        }
        Collections.shuffle(deck, random);
      }
      Card card = deck.remove(deck.size() - 1);
      if (card.needsDisks() && disks == null
          || card.needsClocks() && !ShiftedClocks.isPossible()
          || card.needsLinks() && cluster.layout().lab() == null
          || card.losesData() && !isRedundant()) {
        continue;
      }
      return card;
    }
  }

  /** Whether all data would survive the loss of a disk; waits a while for repairs. */
  private boolean isRedundant() throws InterruptedException {
    return ConditionWaiter.within(REDUNDANT_MILLIS)
        .every(500)
        .objection(this::whyNotRedundant)
        .isEmpty();
  }

  private String whyNotRedundant() {
    try {
      return verified.whyNotRedundant();
    } catch (IOException e) {
      return e.toString();
    }
  }

  private void play(Card card) throws InterruptedException {
    try {
      Fault fault = choose(card);
      book.fault(card.name());
      book.say("fault: %s", fault.what());
      try {
        fault.begin().run();
        Thread.sleep(fault.holdMillis());
      } finally {
        fault.end().run();
      }
    } catch (ClusterException | IOException e) {
      book.find(Kind.STUCK, "%s could not be injected or mended: %s".formatted(card, e));
    }
  }

  // ---- the choice -------------------------------------------------------------------------------

  private Fault choose(Card card) {
    int server = random.nextInt(cluster.layout().servers());
    int disk = random.nextInt(cluster.layout().disks());
    String name = ProcessNames.server(server);
    String place = "disk %d of %s".formatted(disk, name);
    return switch (card) {
      case KILL_SERVER -> {
        long hold = between(500, 9_000);
        yield new Fault(
            "%s is killed and starts again after %s".formatted(name, seconds(hold)),
            hold,
            () -> cluster.killServer(server),
            () -> start(name));
      }
      case STALL_SERVER -> stall(name, between(2_000, 12_000));
      case KILL_ALL_SERVERS -> {
        List<Integer> all = servers();
        yield new Fault(
            "all %d chunk servers are killed and start again at once".formatted(all.size()),
            between(0, 2_000),
            () -> cluster.killServers(all),
            () -> cluster.startServers(all));
      }
      case KILL_NAMENODE -> {
        long hold = between(0, 4_000);
        yield new Fault(
            "the namenode is killed and starts again after " + seconds(hold),
            hold,
            () -> cluster.killNamenode(),
            () -> start(ProcessNames.NAMENODE));
      }
      case STALL_NAMENODE -> stall(ProcessNames.NAMENODE, between(1_000, 8_000));
      case KILL_CONTROL -> {
        long hold = between(0, 4_000);
        yield new Fault(
            "the control plane is killed and starts again after " + seconds(hold),
            hold,
            () -> cluster.killControl(),
            () -> start(ProcessNames.CONTROL));
      }
      case STALL_CONTROL -> stall(ProcessNames.CONTROL, between(2_000, 10_000));
      case KILL_CLIENT -> {
        int client = random.nextInt(clients.count());
        yield new Fault(
            "client process %d is killed with its open files".formatted(client),
            0,
            () -> clients.kill(client),
            () -> {});
      }
      case KILL_IN_TRANSITION -> killInTransition();
      case DISK_FULL -> {
        long hold = between(4_000, 10_000);
        yield new Fault(
            "%s is full for %s".formatted(place, seconds(hold)),
            hold,
            () -> disks.fill(server, disk),
            () -> disks.empty(server, disk));
      }
      case DISK_READ_ONLY -> {
        long hold = between(3_000, 9_000);
        yield new Fault(
            "%s is read-only for %s".formatted(place, seconds(hold)),
            hold,
            () -> disks.makeReadOnly(server, disk),
            () -> repair(server, disk));
      }
      case DISK_ERRORS -> {
        long hold = between(3_000, 9_000);
        yield new Fault(
            "%s fails every access for %s".formatted(place, seconds(hold)),
            hold,
            () -> disks.makeFail(server, disk),
            () -> repair(server, disk));
      }
      case DISK_LOST ->
          new Fault(
              "%s loses all its blocks".formatted(place),
              0,
              () -> new FaultInjector(cluster, random).failDisk(server, disk),
              () -> start(name));
      case LINK_CUT -> {
        long hold = between(2_000, 12_000);
        yield new Fault(
            "the link of %s is cut for %s".formatted(name, seconds(hold)),
            hold,
            () -> cluster.layout().lab().setLink(server, false),
            () -> cluster.layout().lab().setLink(server, true));
      }
      case CLOCK_SHIFTED -> shiftClock();
      case LINK_SLOW -> {
        long hold = between(5_000, 12_000);
        yield new Fault(
            "the link of %s has 2mbit for %s".formatted(name, seconds(hold)),
            hold,
            () -> cluster.layout().lab().setRate(server, "2mbit"),
            () -> cluster.layout().lab().setRate(server, cluster.layout().lab().rate()));
      }
    };
  }

  /** The wall clock of a process jumps, and jumps back later. */
  private Fault shiftClock() {
    List<String> names = new ArrayList<>(List.of(ProcessNames.NAMENODE, ProcessNames.CONTROL));
    names.add(ProcessNames.server(random.nextInt(cluster.layout().servers())));
    String name = names.get(random.nextInt(names.size()));
    long seconds = SHIFTS_SECONDS.get(random.nextInt(SHIFTS_SECONDS.size()));
    long hold = between(4_000, 12_000);
    return new Fault(
        "the wall clock of %s is %+d s off for %s".formatted(name, seconds, seconds(hold)),
        hold,
        () -> cluster.clocks().shift(name, seconds),
        () -> cluster.clocks().shift(name, 0));
  }

  private Fault stall(String name, long hold) {
    return new Fault(
        "%s is stalled (SIGSTOP) for %s".formatted(name, seconds(hold)),
        hold,
        () -> cluster.stall(name, true),
        () -> cluster.stall(name, false));
  }

  /** A process dies in the middle of an encoding, a conversion, a repair or a move. */
  private Fault killInTransition() {
    FailPoint[] points = FailPoint.values();
    FailPoint point = points[random.nextInt(points.length)];
    int skip = random.nextInt(4);
    long hold = between(8_000, 12_000);
    return new Fault(
        "the process that passes %s after %d passes is killed".formatted(point.pointName(), skip),
        0,
        () -> {
          cluster.arm(point, Armed.KILL.after(skip));
          ConditionWaiter.within(hold).objection(() -> cluster.hasFired(point) ? null : "armed");
          if (cluster.hasFired(point)) {
            // A process marks the point as fired just before it dies.
            ConditionWaiter.within(DEATH_MILLIS).objection(() -> dead().isEmpty() ? "alive" : null);
          }
        },
        () -> {
          boolean fired = cluster.hasFired(point);
          cluster.disarm(point);
          List<String> dead = dead();
          if (!fired && dead.isEmpty()) {
            book.say("       nothing passed %s", point.pointName());
          } else {
            book.say("       killed: %s", String.join(", ", dead));
          }
          for (String name : dead) {
            start(name);
          }
        });
  }

  private long between(int least, int most) {
    return least + random.nextInt(most - least);
  }

  private static String seconds(long millis) {
    return "%.1f s".formatted(millis / 1000.0);
  }

  private List<Integer> servers() {
    return IntStream.range(0, cluster.layout().servers()).boxed().toList();
  }

  // ---- mending ----------------------------------------------------------------------------------

  private void repair(int server, int disk) throws ClusterException, InterruptedException {
    cluster.killServer(server);
    disks.repair(server, disk);
    start(ProcessNames.server(server));
  }

  /** The processes that should run and do not. */
  private List<String> dead() {
    List<String> dead = new ArrayList<>();
    // The namenode first: all other processes are ready only once they have registered with it.
    dead.addAll(List.of(ProcessNames.NAMENODE, ProcessNames.KAFKA, ProcessNames.CONTROL));
    servers().forEach(server -> dead.add(ProcessNames.server(server)));
    dead.removeAll(cluster.running().keySet());
    return dead;
  }

  /** Starts processes that ended although nobody killed them, which is a finding. */
  void startDead(String when) throws InterruptedException {
    for (String name : dead()) {
      book.find(
          Kind.STUCK,
          "%s ended by itself, found %s; its log ends with%s"
              .formatted(name, when, cluster.log(name).tail(8)));
      try {
        start(name);
      } catch (ClusterException e) {
        book.find(Kind.STUCK, "%s does not start: %s".formatted(name, e.getMessage()));
      }
    }
  }

  /** Starts a process unless it runs. A machine with much to do may need more than one try. */
  private void start(String name) throws ClusterException, InterruptedException {
    for (int tries = 1; !cluster.running().containsKey(name); tries++) {
      try {
        switch (name) {
          case ProcessNames.NAMENODE -> cluster.startNamenode();
          case ProcessNames.KAFKA -> cluster.startKafka();
          case ProcessNames.CONTROL -> cluster.startControl();
          default -> cluster.startServer(ProcessNames.serverIndex(name));
        }
      } catch (ClusterException e) {
        if (tries == START_TRIES) {
          throw e;
        }
      }
    }
  }
}
