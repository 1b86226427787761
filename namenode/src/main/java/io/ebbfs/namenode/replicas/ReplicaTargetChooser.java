package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.SharedRandom;
import io.ebbfs.namenode.placement.ReplicaServerChooser;
import io.ebbfs.namenode.placement.ReplicaServerChooser.Candidate;
import io.ebbfs.namenode.placement.TargetGrade;
import io.ebbfs.namenode.placement.TargetGrader;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;

/**
 * Chooses disks for new replicas, for write pipelines and for re-replication (HDFS:
 * BlockPlacementPolicy). Every replica gets another server, chosen by {@link ReplicaServerChooser},
 * on two racks if there are two, and then the least loaded disk of that server. The disks have the
 * types that the storage policy of the file asks for ({@link TypeChoice}). Disks that are busy or
 * full, or that err, are left out as long as there are others ({@link TargetGrader}); but a block
 * goes to a disk that is busy or errs rather than to one rack alone. Thread-safe.
 */
final class ReplicaTargetChooser {
  // The bytes of a replica that was placed longer ago show in the free bytes of a heartbeat.
  private static final double HALF_LIFE_MILLIS = 20_000;
  private static final int MAX_REASONS = 20;

  /** The replicas of a disk; all sums halve every {@link #HALF_LIFE_MILLIS}. */
  private static final class Placed {
    /** Placed recently, a measure of the disk's work. */
    private double recent;

    /** Placed recently and not reported yet. */
    private double expected;

    /** What the expected replicas may take, if each becomes a full block of its file. */
    private double expectedBytes;

    private long atMillis;

    private Placed at(long nowMillis) {
      if (nowMillis > atMillis) {
        double left = Math.pow(0.5, (nowMillis - atMillis) / HALF_LIFE_MILLIS);
        recent *= left;
        expected *= left;
        expectedBytes *= left;
        atMillis = nowMillis;
      }
      return this;
    }

    private void place(long blockSizeBytes) {
      recent++;
      expected++;
      expectedBytes += blockSizeBytes;
    }

    /** Which replicas arrived is not known here: each counts as an average one. */
    private void arrive(int replicas) {
      double left = Math.max(0, expected - replicas);
      expectedBytes = left == 0 ? 0 : expectedBytes * left / expected;
      expected = left;
    }
  }

  /** The servers that take blocks at one time, with what a choice among them needs. */
  private static final class Choice {
    private final List<Server> servers;
    private final ReplicaServerChooser chooser;
    private final TargetGrader grader;
    private final Map<String, List<Integer>> onMachine = new HashMap<>();

    private Choice(List<Server> servers) {
      this.servers = servers;
      List<Candidate> candidates = new ArrayList<>(servers.size());
      for (int i = 0; i < servers.size(); i++) {
        Server server = servers.get(i);
        candidates.add(new Candidate(server.rack(), free(server)));
        for (String name : Set.copyOf(List.of(server.ipAddress(), server.hostName()))) {
          onMachine.computeIfAbsent(name, machine -> new ArrayList<>(1)).add(i);
        }
      }
      this.chooser = new ReplicaServerChooser(candidates);
      this.grader = new TargetGrader(servers);
    }

    private static double free(Server server) {
      double free = 0;
      for (Disk disk : server.disks()) {
        free += disk.failed() ? 0 : disk.remainingBytes();
      }
      return free;
    }
  }

  private final DatanodeRegistry cluster;
  private final Clock clock;
  private final SharedRandom random;
  private final Map<String, Placed> placed = new HashMap<>();
  private Choice choice = new Choice(List.of());

  ReplicaTargetChooser(DatanodeRegistry cluster, Clock clock, SharedRandom random) {
    this.cluster = cluster;
    this.clock = clock;
    this.random = random;
  }

  /** See {@link BlockService#chooseTargets}. */
  synchronized List<Target> choose(WriteRequest request) throws IOException {
    List<Server> live = cluster.serversForBlocks();
    if (choice.servers != live) {
      choice = new Choice(live);
    }
    List<Server> holders =
        request.chosenStorageUuids().stream()
            .flatMap(storage -> cluster.disk(storage).stream())
            .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
            .toList();
    Set<String> taken = new HashSet<>(request.excludedServerUuids());
    holders.forEach(holder -> taken.add(holder.uuid()));
    List<String> racks = new ArrayList<>(holders.stream().map(Server::rack).toList());
    List<Target> targets = new ArrayList<>();
    long now = clock.millis();
    Set<String> avoided = avoided(request, taken);
    TypeChoice types =
        new TypeChoice(
            request.types(), request.chosenStorageUuids().stream().map(cluster::typeOf).toList());
    while (targets.size() < request.replication()) {
      boolean first = targets.isEmpty() && request.chosenStorageUuids().isEmpty();
      boolean last = targets.size() == request.replication() - 1;
      Draft draft = new Draft(request, now, taken, avoided, racks, first, last);
      Optional<Target> next = next(draft, types.next());
      if (next.isPresent()) {
        Target target = next.get();
        types.took(target.disk().type());
        taken.add(target.server().uuid());
        avoided.add(target.server().uuid());
        racks.add(target.server().rack());
        targets.add(target);
      } else if (!types.giveUp()) {
        break;
      }
    }
    if (targets.isEmpty() && live.isEmpty() && cluster.awaitsServers()) {
      // Clients repeat the call after a moment when they get this.
      throw new NotReplicatedYetException(
          "no chunk server has registered since the start of the namenode; they are awaited");
    }
    if (targets.isEmpty()) {
      String why = noPlace(request, live, holders, now);
      boolean spaceIsAwaited =
          live.stream()
              .anyMatch(server -> !taken.contains(server.uuid()) && hasNotToldItsSpace(server));
      throw spaceIsAwaited ? new NotReplicatedYetException(why) : new IOException(why);
    }
    return targets;
  }

  /** A server has registered, at this namenode, and its first heartbeat has not come yet. */
  private static boolean hasNotToldItsSpace(Server server) {
    return server.disks().stream().allMatch(disk -> !disk.failed() && disk.capacityBytes() == 0);
  }

  /**
   * The least loaded disk of a server for a copy, of one of the types that the request names. Disks
   * that are full or err are left out. The disk counts as placed on, as those that {@link #choose}
   * takes.
   */
  synchronized Optional<Target> on(Server server, WriteRequest request) {
    Ask ask = new Ask(request, EnumSet.copyOf(request.types().exactly()), clock.millis());
    return server.disks().stream()
            .anyMatch(
                disk ->
                    hasRoom(disk, ask)
                        && choice.grader.ofDisk(disk).isNoWorseThan(TargetGrade.BUSY))
        ? Optional.of(new Target(server, disk(server, ask)))
        : Optional.empty();
  }

  /**
   * The input of the choice of the next replica's disk.
   *
   * @param racks of the replicas so far
   * @param first whether it is the first replica of the block
   * @param last whether it is the last one of the request
   */
  private record Draft(
      WriteRequest request,
      long now,
      Set<String> taken,
      Set<String> avoided,
      List<String> racks,
      boolean first,
      boolean last) {}

  /** A disk that has room; the sets of types are tried in their order. */
  private Optional<Target> next(Draft draft, List<EnumSet<StorageType>> types) {
    List<Ask> asks = types.stream().map(set -> new Ask(draft.request(), set, draft.now())).toList();
    for (Ask ask : asks) {
      OptionalInt preferred = preferred(draft, ask);
      if (preferred.isPresent()) {
        return Optional.of(target(preferred.getAsInt(), ask));
      }
    }
    for (Ask ask : asks) {
      OptionalInt any = anywhere(draft, ask);
      if (any.isPresent()) {
        return Optional.of(target(any.getAsInt(), ask));
      }
    }
    return Optional.empty();
  }

  private Target target(int index, Ask ask) {
    Server server = choice.servers.get(index);
    return new Target(server, disk(server, ask));
  }

  /** A server that the writer favors, or on the writer's machine. */
  private OptionalInt preferred(Draft draft, Ask ask) {
    OptionalInt favored = favored(ask, draft.taken(), otherRacks(draft));
    boolean isLocal = draft.first() && ask.request().wishes().isLocalFirst();
    return favored.isEmpty() && isLocal ? local(ask, draft.taken()) : favored;
  }

  private OptionalInt anywhere(Draft draft, Ask ask) {
    List<String> racks = draft.racks();
    OptionalInt next = OptionalInt.empty();
    if (draft.avoided().size() > draft.taken().size()) {
      List<String> others = otherRacks(draft);
      next =
          next(
              racks,
              server ->
                  fits(server, ask, draft.avoided(), TargetGrade.GOOD)
                      && !leavesOneRack(choice.servers.get(server), others),
              ask.now());
    }
    if (next.isEmpty()) {
      next = next(racks, server -> fits(server, ask, draft.taken(), TargetGrade.GOOD), ask.now());
      if (leavesOneRack(next, racks)) {
        OptionalInt other = inOtherRack(draft, ask);
        next = other.isPresent() ? other : next;
      }
    }
    return next.isEmpty() ? leastBad(draft, ask) : next;
  }

  /** A server in another rack than the replicas so far, with a disk that is busy, or else errs. */
  private OptionalInt inOtherRack(Draft draft, Ask ask) {
    OptionalInt busy =
        inOtherRack(draft, ask, disk -> choice.grader.of(disk).isNoWorseThan(TargetGrade.BUSY));
    return busy.isPresent() ? busy : inOtherRack(draft, ask, disk -> !TargetGrader.isFull(disk));
  }

  private OptionalInt inOtherRack(Draft draft, Ask ask, Predicate<Disk> allowed) {
    return next(
        draft.racks(),
        index -> {
          Server server = choice.servers.get(index);
          return !leavesOneRack(server, draft.racks())
              && !draft.taken().contains(server.uuid())
              && server.disks().stream().anyMatch(disk -> hasRoom(disk, ask) && allowed.test(disk))
              && !cluster.isOverdue(server);
        },
        ask.now());
  }

  /**
   * A server whose disks are left out otherwise, the least bad first, but worse ones rather than
   * one rack alone. A server whose heartbeats are overdue is taken if nothing else is left.
   */
  private OptionalInt leastBad(Draft draft, Ask ask) {
    List<String> racks = draft.racks();
    OptionalInt inOneRack = OptionalInt.empty();
    for (TargetGrade worst : choice.grader.bad()) {
      OptionalInt next = next(racks, server -> fits(server, ask, draft.taken(), worst), ask.now());
      if (next.isPresent() && !leavesOneRack(next, racks)) {
        return next;
      }
      inOneRack = inOneRack.isPresent() ? inOneRack : next;
    }
    return inOneRack.isPresent()
        ? inOneRack
        : next(racks, server -> hasRoom(server, ask, draft.taken()), ask.now());
  }

  private static List<String> otherRacks(Draft draft) {
    return draft.last() ? draft.racks() : List.of();
  }

  /** See {@link BlockService#giveBack}. */
  synchronized void giveBack(List<Target> targets) {
    long now = clock.millis();
    for (Target target : targets) {
      Placed known = placedOn(target.disk(), now);
      known.recent = Math.max(0, known.recent - 1);
      known.arrive(1);
    }
  }

  /** Why no server can take another replica of a block; empty if one can. Places nothing. */
  Optional<String> whyNone(Set<String> holderUuids, long lengthBytes) {
    List<Server> servers = cluster.serversForBlocks();
    List<Server> others =
        servers.stream().filter(server -> !holderUuids.contains(server.uuid())).toList();
    boolean fits =
        others.stream()
            .flatMap(server -> server.disks().stream())
            .anyMatch(disk -> !disk.failed() && disk.remainingBytes() >= lengthBytes);
    return fits
        ? Optional.empty()
        : Optional.of(
            "of the %d servers that take blocks, %d hold it already, and %d have no disk with %d bytes free: add a server or disks, or take a server back"
                .formatted(
                    servers.size(), servers.size() - others.size(), others.size(), lengthBytes));
  }

  /** Replicas that {@link #choose} placed on a disk have been reported. */
  synchronized void arrived(String storageUuid, int replicas) {
    Placed known = placed.get(storageUuid);
    if (known != null) {
      known.at(clock.millis()).arrive(replicas);
    }
  }

  /** What a disk must have: room for the block, and one of the types. */
  private record Ask(WriteRequest request, EnumSet<StorageType> types, long now) {}

  /** Whether a server has room on a disk that is no worse, and its heartbeats come as usual. */
  private boolean fits(int index, Ask ask, Set<String> taken, TargetGrade worst) {
    Server server = choice.servers.get(index);
    return !taken.contains(server.uuid())
        && server.disks().stream()
            .anyMatch(disk -> hasRoom(disk, ask) && choice.grader.of(disk).isNoWorseThan(worst))
        && !cluster.isOverdue(server);
  }

  private boolean hasRoom(int index, Ask ask, Set<String> taken) {
    Server server = choice.servers.get(index);
    return !taken.contains(server.uuid())
        && server.disks().stream().anyMatch(disk -> hasRoom(disk, ask));
  }

  private boolean hasRoom(Disk disk, Ask ask) {
    return !disk.failed()
        && ask.types().contains(disk.type())
        && freeBytes(disk, placedOn(disk, ask.now())) >= ask.request().blockSizeBytes();
  }

  private OptionalInt next(List<String> racks, IntPredicate fits, long now) {
    return choice.chooser.next(
        racks,
        fits,
        server -> load(choice.servers.get(server), now),
        () -> random.below(1 << 30) / (double) (1 << 30));
  }

  /** The servers that are taken or that the writer wants to avoid. */
  private Set<String> avoided(WriteRequest request, Set<String> taken) {
    Set<String> avoided = new HashSet<>(taken);
    if (!request.wishes().flags().isEmpty()) {
      List<Server> there =
          choice.onMachine.getOrDefault(request.clientMachine(), List.of()).stream()
              .map(choice.servers::get)
              .toList();
      avoided.addAll(request.wishes().avoided(there, choice.servers));
    }
    return avoided;
  }

  /**
   * The first server that the writer favors and that fits.
   *
   * @param racks of the other replicas, if the block would be on one rack with this last one
   */
  private OptionalInt favored(Ask ask, Set<String> taken, List<String> racks) {
    for (String favored : ask.request().wishes().favored()) {
      String machine = WriterWishes.machine(favored);
      for (int index : choice.onMachine.getOrDefault(machine, List.of())) {
        Server server = choice.servers.get(index);
        if (WriterWishes.hasPort(server, favored)
            && fits(index, ask, taken, TargetGrade.GOOD)
            && !leavesOneRack(server, racks)) {
          return OptionalInt.of(index);
        }
      }
    }
    return OptionalInt.empty();
  }

  private boolean leavesOneRack(OptionalInt next, List<String> racks) {
    return next.isPresent() && leavesOneRack(choice.servers.get(next.getAsInt()), racks);
  }

  private boolean leavesOneRack(Server server, List<String> racks) {
    return !racks.isEmpty()
        && racks.stream().allMatch(server.rack()::equals)
        && choice.servers.stream().anyMatch(other -> !other.rack().equals(server.rack()));
  }

  /** A server on the writer's machine that fits, unless all servers are on that machine. */
  private OptionalInt local(Ask ask, Set<String> taken) {
    List<Integer> there = choice.onMachine.getOrDefault(ask.request().clientMachine(), List.of());
    List<Integer> fit =
        there.stream().filter(server -> fits(server, ask, taken, TargetGrade.GOOD)).toList();
    return fit.isEmpty() || there.size() == choice.servers.size()
        ? OptionalInt.empty()
        : OptionalInt.of(fit.get(random.below(fit.size())));
  }

  /** The work of the disks in service of a server, in relation to their free space. */
  private double load(Server server, long now) {
    double free = 0;
    double capacity = 0;
    double recent = 0;
    for (Disk disk : server.disks()) {
      if (!disk.failed()) {
        free += disk.remainingBytes();
        capacity += disk.capacityBytes();
        recent += placedOn(disk, now).recent;
      }
    }
    int disks = Math.max(1, server.disks().size());
    return (1 + recent + server.activeTransfers()) / disks / freeShare(free, capacity);
  }

  /** Each expected replica reserves a full block of its own file until its server reports it. */
  private static double freeBytes(Disk disk, Placed known) {
    return disk.remainingBytes() - known.expectedBytes;
  }

  private Placed placedOn(Disk disk, long now) {
    return placed.computeIfAbsent(disk.storageUuid(), ignored -> new Placed()).at(now);
  }

  private Optional<String> refusal(
      Server server, WriteRequest request, List<Server> holders, long now) {
    if (request.excludedServerUuids().contains(server.uuid())) {
      return Optional.of("excluded by the client");
    }
    if (holders.stream().anyMatch(holder -> holder.uuid().equals(server.uuid()))) {
      return Optional.of("holds the block already");
    }
    List<Disk> typed =
        server.disks().stream()
            .filter(disk -> !disk.failed() && isWanted(disk.type(), request.types()))
            .toList();
    if (typed.isEmpty() && server.disks().stream().anyMatch(disk -> !disk.failed())) {
      return Optional.of(
          "no disk of a type that the storage policy %s allows"
              .formatted(request.types().policy().getName()));
    }
    OptionalDouble most =
        typed.stream().mapToDouble(disk -> freeBytes(disk, placedOn(disk, now))).max();
    if (most.isEmpty()) {
      return Optional.of("no disk in service");
    }
    return most.getAsDouble() >= request.blockSizeBytes()
        ? Optional.empty()
        : Optional.of(
            "no disk with %d bytes free, at most %d"
                .formatted(request.blockSizeBytes(), (long) Math.max(0, most.getAsDouble())));
  }

  private static boolean isWanted(StorageType type, TypeWish wish) {
    return wish.policy() == null
        || List.of(wish.policy().getStorageTypes()).contains(type)
        || List.of(wish.policy().getCreationFallbacks()).contains(type);
  }

  static boolean isOn(Server server, String machine) {
    return machine != null
        && (machine.equals(server.ipAddress()) || machine.equals(server.hostName()));
  }

  /** Takes the least loaded of the best disks of a server that have room for the block. */
  private Disk disk(Server server, Ask ask) {
    long now = ask.now();
    List<Disk> disks = new ArrayList<>(server.disks());
    disks.removeIf(disk -> !hasRoom(disk, ask));
    TargetGrader grader = choice.grader;
    TargetGrade grade =
        disks.stream().map(grader::ofDisk).min(Comparator.naturalOrder()).orElseThrow();
    disks.removeIf(disk -> grader.ofDisk(disk) != grade);
    random.shuffle(disks);
    Disk best = disks.get(0);
    for (Disk disk : disks) {
      if (load(disk, now) < load(best, now)) {
        best = disk;
      }
    }
    placedOn(best, now).place(ask.request().blockSizeBytes());
    return best;
  }

  private double load(Disk disk, long now) {
    return (1 + placedOn(disk, now).recent)
        / freeShare(disk.remainingBytes(), disk.capacityBytes());
  }

  private static double freeShare(double free, double capacity) {
    return Math.max(0.01, capacity <= 0 ? 0 : free / capacity);
  }

  private String noPlace(WriteRequest request, List<Server> live, List<Server> holders, long now) {
    StringBuilder text =
        new StringBuilder(
            ("File %s could only be written to 0 of the 1 minReplication nodes. There are %d"
                    + " datanode(s) running and %s node(s) are excluded in this operation.")
                .formatted(
                    request.path(),
                    live.size(),
                    request.excludedServerUuids().isEmpty()
                        ? "no"
                        : String.valueOf(request.excludedServerUuids().size())));
    for (Server server : live.subList(0, Math.min(live.size(), MAX_REASONS))) {
      refusal(server, request, holders, now)
          .ifPresent(
              why ->
                  text.append(
                      " %s:%d: %s.".formatted(server.ipAddress(), server.transferPort(), why)));
    }
    if (live.isEmpty()) {
      text.append(" Start chunk servers, or wait until they have registered.");
    }
    return text.toString();
  }
}
