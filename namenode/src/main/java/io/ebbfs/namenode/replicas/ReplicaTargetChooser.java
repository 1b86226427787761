package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.SharedRandom;
import io.ebbfs.namenode.placement.ReplicaServerChooser;
import io.ebbfs.namenode.placement.ReplicaServerChooser.Candidate;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntPredicate;
import org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException;

/**
 * Chooses disks for new replicas, for write pipelines and for re-replication (HDFS:
 * BlockPlacementPolicy). Every replica gets another server, chosen by {@link ReplicaServerChooser},
 * on two racks if there are two, and then the least loaded disk of that server. Thread-safe.
 */
final class ReplicaTargetChooser {
  // The bytes of a replica that was placed longer ago show in the free bytes of a heartbeat.
  private static final double HALF_LIFE_MILLIS = 20_000;
  private static final int MAX_REASONS = 20;

  /** The replicas of a disk; both counts halve every {@link #HALF_LIFE_MILLIS}. */
  private static final class Placed {
    /** Placed recently, a measure of the disk's work. */
    private double recent;

    /** Placed recently and not reported yet: each may take the bytes of a full block. */
    private double expected;

    private long atMillis;

    private Placed at(long nowMillis) {
      if (nowMillis > atMillis) {
        double left = Math.pow(0.5, (nowMillis - atMillis) / HALF_LIFE_MILLIS);
        recent *= left;
        expected *= left;
        atMillis = nowMillis;
      }
      return this;
    }
  }

  /** The servers that take blocks at one time, with what a choice among them needs. */
  private static final class Choice {
    private final List<Server> servers;
    private final ReplicaServerChooser chooser;
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
    while (targets.size() < request.replication()) {
      boolean first = targets.isEmpty() && request.chosenStorageUuids().isEmpty();
      boolean last = targets.size() == request.replication() - 1;
      List<String> others = last ? racks : List.of();
      OptionalInt next = favored(request, taken, others, now);
      if (next.isEmpty() && first && request.wishes().isLocalFirst()) {
        next = local(request, taken, now);
      }
      if (next.isEmpty() && avoided.size() > taken.size()) {
        next =
            next(
                racks,
                server ->
                    fits(server, request, avoided, now) && !leavesOneRack(live.get(server), others),
                now);
      }
      if (next.isEmpty()) {
        next = next(racks, server -> fits(server, request, taken, now), now);
      }
      if (next.isEmpty()) {
        next = next(racks, server -> hasRoom(server, request, taken, now), now);
      }
      if (next.isEmpty()) {
        break;
      }
      Server server = live.get(next.getAsInt());
      taken.add(server.uuid());
      avoided.add(server.uuid());
      racks.add(server.rack());
      targets.add(new Target(server, disk(server, request, now)));
    }
    if (targets.isEmpty() && live.isEmpty() && cluster.awaitsServers()) {
      // Clients repeat the call after a moment when they get this.
      throw new NotReplicatedYetException(
          "no chunk server has registered since the start of the namenode; they are awaited");
    }
    if (targets.isEmpty()) {
      throw new IOException(noPlace(request, live, holders, now));
    }
    return targets;
  }

  /** See {@link BlockService#giveBack}. */
  synchronized void giveBack(List<Target> targets) {
    long now = clock.millis();
    for (Target target : targets) {
      Placed known = placedOn(target.disk(), now);
      known.recent = Math.max(0, known.recent - 1);
      known.expected = Math.max(0, known.expected - 1);
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
      known.at(clock.millis()).expected = Math.max(0, known.expected - replicas);
    }
  }

  /** Whether a server has room, and its heartbeats come as usual. */
  private boolean fits(int index, WriteRequest request, Set<String> taken, long now) {
    return hasRoom(index, request, taken, now) && !cluster.isOverdue(choice.servers.get(index));
  }

  private boolean hasRoom(int index, WriteRequest request, Set<String> taken, long now) {
    Server server = choice.servers.get(index);
    return !taken.contains(server.uuid())
        && server.disks().stream().anyMatch(disk -> hasRoom(disk, request, now));
  }

  private boolean hasRoom(Disk disk, WriteRequest request, long now) {
    return !disk.failed()
        && freeBytes(disk, placedOn(disk, now), request) >= request.blockSizeBytes();
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
  private OptionalInt favored(
      WriteRequest request, Set<String> taken, List<String> racks, long now) {
    for (String favored : request.wishes().favored()) {
      String machine = WriterWishes.machine(favored);
      for (int index : choice.onMachine.getOrDefault(machine, List.of())) {
        Server server = choice.servers.get(index);
        if (WriterWishes.hasPort(server, favored)
            && fits(index, request, taken, now)
            && !leavesOneRack(server, racks)) {
          return OptionalInt.of(index);
        }
      }
    }
    return OptionalInt.empty();
  }

  private boolean leavesOneRack(Server server, List<String> racks) {
    return !racks.isEmpty()
        && racks.stream().allMatch(server.rack()::equals)
        && choice.servers.stream().anyMatch(other -> !other.rack().equals(server.rack()));
  }

  /** A server on the writer's machine that fits, unless all servers are on that machine. */
  private OptionalInt local(WriteRequest request, Set<String> taken, long now) {
    List<Integer> there = choice.onMachine.getOrDefault(request.clientMachine(), List.of());
    List<Integer> fit = there.stream().filter(server -> fits(server, request, taken, now)).toList();
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

  /** As in HDFS, each expected replica reserves a full block until its server reports it. */
  private static double freeBytes(Disk disk, Placed known, WriteRequest request) {
    return disk.remainingBytes() - known.expected * request.blockSizeBytes();
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
    OptionalDouble most =
        server.disks().stream()
            .filter(disk -> !disk.failed())
            .mapToDouble(disk -> freeBytes(disk, placedOn(disk, now), request))
            .max();
    if (most.isEmpty()) {
      return Optional.of("no disk in service");
    }
    return most.getAsDouble() >= request.blockSizeBytes()
        ? Optional.empty()
        : Optional.of(
            "no disk with %d bytes free, at most %d"
                .formatted(request.blockSizeBytes(), (long) Math.max(0, most.getAsDouble())));
  }

  static boolean isOn(Server server, String machine) {
    return machine != null
        && (machine.equals(server.ipAddress()) || machine.equals(server.hostName()));
  }

  /** Takes the least loaded disk of a server that has room for the block. */
  private Disk disk(Server server, WriteRequest request, long now) {
    List<Disk> disks = new ArrayList<>(server.disks());
    disks.removeIf(disk -> !hasRoom(disk, request, now));
    random.shuffle(disks);
    Disk best = disks.get(0);
    for (Disk disk : disks) {
      if (load(disk, now) < load(best, now)) {
        best = disk;
      }
    }
    Placed known = placedOn(best, now);
    known.recent++;
    known.expected++;
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
