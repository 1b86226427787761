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
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private static final int NONE = -1;

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

  /** The disks in service of a server, summed up. */
  private record Room(double mostFreeBytes, double freeBytes, double capacityBytes, double recent) {
    private double load(Server server) {
      int disks = Math.max(1, server.disks().size());
      return (1 + recent + server.activeTransfers()) / disks / freeShare(freeBytes, capacityBytes);
    }
  }

  /** Servers that may take a replica. */
  private static final class Choice {
    private final List<Server> servers = new ArrayList<>();
    private final List<Candidate> candidates = new ArrayList<>();

    private void add(Server server, Room room) {
      servers.add(server);
      candidates.add(
          new Candidate(server.uuid(), server.rack(), room.freeBytes(), room.load(server)));
    }

    private boolean isEmpty() {
      return servers.isEmpty();
    }

    private Server remove(int index) {
      candidates.remove(index);
      return servers.remove(index);
    }
  }

  private final DatanodeRegistry cluster;
  private final Clock clock;
  private final SharedRandom random;
  private final Map<String, Placed> placed = new HashMap<>();

  ReplicaTargetChooser(DatanodeRegistry cluster, Clock clock, SharedRandom random) {
    this.cluster = cluster;
    this.clock = clock;
    this.random = random;
  }

  /** See {@link BlockService#chooseTargets}. */
  synchronized List<Target> choose(WriteRequest request) throws IOException {
    List<Server> live = cluster.liveServers();
    List<Server> holders =
        request.chosenStorageUuids().stream()
            .flatMap(storage -> cluster.disk(storage).stream())
            .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
            .toList();
    Map<String, String> refusals = new HashMap<>();
    Choice fit = new Choice();
    Choice overdue = new Choice();
    long now = clock.millis();
    for (Server server : live) {
      Room room = room(server, request, now);
      Optional<String> refusal = refusal(server, request, holders, room);
      if (refusal.isPresent()) {
        refusals.put(server.uuid(), refusal.get());
      } else {
        (cluster.isOverdue(server) ? overdue : fit).add(server, room);
      }
    }
    List<Target> targets = new ArrayList<>();
    List<String> racks = new ArrayList<>(holders.stream().map(Server::rack).toList());
    while (targets.size() < request.replication() && !(fit.isEmpty() && overdue.isEmpty())) {
      Choice from = fit.isEmpty() ? overdue : fit;
      boolean first = targets.isEmpty() && request.chosenStorageUuids().isEmpty();
      int local = first && from == fit ? local(fit.servers, live, request.clientMachine()) : NONE;
      Server next = from.remove(local == NONE ? next(from, racks) : local);
      racks.add(next.rack());
      targets.add(new Target(next, disk(next, request, now)));
    }
    if (targets.isEmpty() && live.isEmpty() && cluster.awaitsServers()) {
      // Clients repeat the call after a moment when they get this.
      throw new NotReplicatedYetException(
          "no chunk server has registered since the start of the namenode; they are awaited");
    }
    if (targets.isEmpty()) {
      throw new IOException(noPlace(request, live, refusals));
    }
    return targets;
  }

  /** Replicas that {@link #choose} placed on a disk have been reported. */
  synchronized void arrived(String storageUuid, int replicas) {
    Placed known = placed.get(storageUuid);
    if (known != null) {
      known.at(clock.millis()).expected = Math.max(0, known.expected - replicas);
    }
  }

  private Room room(Server server, WriteRequest request, long now) {
    double most = 0;
    double free = 0;
    double capacity = 0;
    double recent = 0;
    for (Disk disk : server.disks()) {
      if (!disk.failed()) {
        Placed known = placedOn(disk, now);
        most = Math.max(most, freeBytes(disk, known, request));
        free += disk.remainingBytes();
        capacity += disk.capacityBytes();
        recent += known.recent;
      }
    }
    return new Room(most, free, capacity, recent);
  }

  /** As in HDFS, each expected replica reserves a full block until its server reports it. */
  private static double freeBytes(Disk disk, Placed known, WriteRequest request) {
    return disk.remainingBytes() - known.expected * request.blockSizeBytes();
  }

  private Placed placedOn(Disk disk, long now) {
    return placed.computeIfAbsent(disk.storageUuid(), ignored -> new Placed()).at(now);
  }

  private static Optional<String> refusal(
      Server server, WriteRequest request, List<Server> holders, Room room) {
    if (request.excludedServerUuids().contains(server.uuid())) {
      return Optional.of("excluded by the client");
    }
    if (holders.stream().anyMatch(holder -> holder.uuid().equals(server.uuid()))) {
      return Optional.of("holds the block already");
    }
    if (server.disks().stream().allMatch(Disk::failed)) {
      return Optional.of("no disk in service");
    }
    return room.mostFreeBytes() >= request.blockSizeBytes()
        ? Optional.empty()
        : Optional.of(
            "no disk with %d bytes free, at most %d"
                .formatted(request.blockSizeBytes(), (long) room.mostFreeBytes()));
  }

  /** The index of a server on the writer's machine, unless all servers are on that machine. */
  private int local(List<Server> fit, List<Server> live, String machine) {
    List<Server> onMachine = fit.stream().filter(s -> isOn(s, machine)).toList();
    boolean elsewhere = live.stream().anyMatch(s -> !isOn(s, machine));
    return onMachine.isEmpty() || !elsewhere
        ? NONE
        : fit.indexOf(onMachine.get(random.below(onMachine.size())));
  }

  static boolean isOn(Server server, String machine) {
    return machine != null
        && (machine.equals(server.ipAddress()) || machine.equals(server.hostName()));
  }

  private int next(Choice from, List<String> racks) {
    Candidate chosen =
        ReplicaServerChooser.next(
            from.candidates, racks, () -> random.below(1 << 30) / (double) (1 << 30));
    return from.candidates.indexOf(chosen);
  }

  /** Takes the least loaded disk of a server that has room for the block. */
  private Disk disk(Server server, WriteRequest request, long now) {
    List<Disk> disks = new ArrayList<>(server.disks());
    disks.removeIf(
        disk ->
            disk.failed()
                || freeBytes(disk, placedOn(disk, now), request) < request.blockSizeBytes());
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

  private static String noPlace(
      WriteRequest request, List<Server> live, Map<String, String> refusals) {
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
    live.stream()
        .filter(server -> refusals.containsKey(server.uuid()))
        .limit(MAX_REASONS)
        .forEach(
            server ->
                text.append(
                    " %s:%d: %s."
                        .formatted(
                            server.ipAddress(),
                            server.transferPort(),
                            refusals.get(server.uuid()))));
    if (live.isEmpty()) {
      text.append(" Start chunk servers, or wait until they have registered.");
    }
    return text.toString();
  }
}
