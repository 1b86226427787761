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
import java.util.Set;

/**
 * Chooses disks for new replicas, for write pipelines and for re-replication (HDFS:
 * BlockPlacementPolicy). Every replica gets another server, chosen by {@link ReplicaServerChooser},
 * on two racks if there are two, and then the least loaded disk of that server. Thread-safe.
 */
final class ReplicaTargetChooser {
  // A replica that was placed longer ago shows in the free bytes of a heartbeat.
  private static final double HALF_LIFE_MILLIS = 20_000;
  private static final int MAX_REASONS = 20;

  /**
   * Blocks that were placed on a disk recently; the count halves every {@link #HALF_LIFE_MILLIS}.
   */
  private static final class Placed {
    private double count;
    private long atMillis;

    private double now(long nowMillis) {
      return count * Math.pow(0.5, Math.max(0, nowMillis - atMillis) / HALF_LIFE_MILLIS);
    }

    private void add(long nowMillis) {
      count = now(nowMillis) + 1;
      atMillis = nowMillis;
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
    Set<String> taken = new HashSet<>(request.excludedServerUuids());
    request.chosenStorageUuids().stream()
        .flatMap(storage -> cluster.disk(storage).stream())
        .forEach(disk -> taken.add(disk.serverUuid()));
    Map<String, String> refusals = new HashMap<>();
    List<Server> fit = new ArrayList<>();
    List<Server> overdue = new ArrayList<>();
    for (Server server : live) {
      Optional<String> refusal = refusal(server, request, taken);
      if (refusal.isPresent()) {
        refusals.put(server.uuid(), refusal.get());
      } else {
        (cluster.isOverdue(server) ? overdue : fit).add(server);
      }
    }
    List<Target> targets = new ArrayList<>();
    if (request.replication() > 0 && request.chosenStorageUuids().isEmpty()) {
      local(fit, live, request.clientMachine()).ifPresent(s -> take(s, fit, request, targets));
    }
    while (targets.size() < request.replication() && !(fit.isEmpty() && overdue.isEmpty())) {
      List<Server> from = fit.isEmpty() ? overdue : fit;
      take(next(from, request, targets), from, request, targets);
    }
    if (targets.isEmpty()) {
      throw new IOException(noPlace(request, live, refusals));
    }
    return targets;
  }

  private Optional<String> refusal(Server server, WriteRequest request, Set<String> taken) {
    if (request.excludedServerUuids().contains(server.uuid())) {
      return Optional.of("excluded by the client");
    }
    if (taken.contains(server.uuid())) {
      return Optional.of("holds the block already");
    }
    if (server.disks().stream().allMatch(Disk::failed)) {
      return Optional.of("no disk in service");
    }
    long most =
        server.disks().stream()
            .filter(disk -> !disk.failed())
            .mapToLong(disk -> freeBytes(disk, request.blockSizeBytes()))
            .max()
            .orElse(0);
    return most >= request.blockSizeBytes()
        ? Optional.empty()
        : Optional.of(
            "no disk with %d bytes free, at most %d"
                .formatted(request.blockSizeBytes(), Math.max(0, most)));
  }

  /** A server on the writer's machine, unless all servers are on that machine. */
  private Optional<Server> local(List<Server> fit, List<Server> live, String machine) {
    List<Server> onMachine = fit.stream().filter(s -> isOn(s, machine)).toList();
    boolean elsewhere = live.stream().anyMatch(s -> !isOn(s, machine));
    return onMachine.isEmpty() || !elsewhere
        ? Optional.empty()
        : Optional.of(onMachine.get(random.below(onMachine.size())));
  }

  static boolean isOn(Server server, String machine) {
    return machine != null
        && (machine.equals(server.ipAddress()) || machine.equals(server.hostName()));
  }

  private Server next(List<Server> servers, WriteRequest request, List<Target> targets) {
    List<String> racks = new ArrayList<>();
    request.chosenStorageUuids().stream()
        .flatMap(storage -> cluster.disk(storage).stream())
        .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
        .forEach(server -> racks.add(server.rack()));
    targets.forEach(target -> racks.add(target.server().rack()));
    List<Candidate> candidates = new ArrayList<>();
    for (Server server : servers) {
      double free =
          server.disks().stream()
              .filter(disk -> !disk.failed())
              .mapToDouble(Disk::remainingBytes)
              .sum();
      candidates.add(new Candidate(server.uuid(), server.rack(), free, load(server)));
    }
    int chosen =
        candidates.indexOf(
            ReplicaServerChooser.next(
                candidates, racks, () -> random.below(1 << 30) / (double) (1 << 30)));
    return servers.get(chosen);
  }

  private void take(Server server, List<Server> from, WriteRequest request, List<Target> targets) {
    from.remove(server);
    List<Disk> disks = new ArrayList<>(server.disks());
    disks.removeIf(
        disk ->
            disk.failed() || freeBytes(disk, request.blockSizeBytes()) < request.blockSizeBytes());
    random.shuffle(disks);
    Disk best = disks.get(0);
    for (Disk disk : disks) {
      if (load(disk) < load(best)) {
        best = disk;
      }
    }
    placed.computeIfAbsent(best.storageUuid(), ignored -> new Placed()).add(clock.millis());
    targets.add(new Target(server, best));
  }

  /**
   * The free bytes of the last heartbeat, less the blocks that were placed on the disk recently.
   */
  private long freeBytes(Disk disk, long blockSizeBytes) {
    return disk.remainingBytes() - (long) (placedOn(disk) * blockSizeBytes);
  }

  private double load(Server server) {
    double placedHere = 0;
    double free = 0;
    double capacity = 0;
    for (Disk disk : server.disks()) {
      if (!disk.failed()) {
        placedHere += placedOn(disk);
        free += disk.remainingBytes();
        capacity += disk.capacityBytes();
      }
    }
    int disks = Math.max(1, server.disks().size());
    return (1 + placedHere + server.activeTransfers()) / disks / freeShare(free, capacity);
  }

  private double load(Disk disk) {
    return (1 + placedOn(disk)) / freeShare(disk.remainingBytes(), disk.capacityBytes());
  }

  private static double freeShare(double free, double capacity) {
    return Math.max(0.01, capacity <= 0 ? 0 : free / capacity);
  }

  private double placedOn(Disk disk) {
    Placed known = placed.get(disk.storageUuid());
    return known == null ? 0 : known.now(clock.millis());
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
