package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ByteBudget;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.replicas.PendingReplicationRegistry.Replication;
import java.io.IOException;
import java.time.Clock;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Orders the re-replication of under-replicated blocks: picks a source and a target, remembers the
 * pending replication, and orders it again elsewhere if it does not arrive in time.
 *
 * <p>One thread calls {@link #retryOverdue}, {@link #note}, {@link #notNeeded}, {@link
 * #recheckMissing} and {@link #orderReplications}; the other methods are thread-safe.
 */
final class ReplicationScheduler {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicationScheduler.class);

  // A block is complete with its first reported replica. The reports of the other replicas of its
  // pipeline arrive within this time, so that no replication is ordered for them.
  private static final long DELAY_MILLIS = 2_000;

  // Each tick has a second look at a few of the blocks without a replica: no event tells of the
  // delete of such a block.
  private static final int MISSING_SHARE = 10;

  // After so many copies in a row that did not arrive, no block waits for the disks of a server.
  private static final int MANY_FAILURES = 4;

  /** Finds the present state of a block. */
  @FunctionalInterface
  interface Assessor {
    /** Empty if neither a file nor a stripe has the block. */
    Optional<BlockAssessment> assess(long blockId) throws IOException;
  }

  private final DatanodeRegistry cluster;
  private final DatanodeCommandQueue commands;
  private final ReplicaTargetChooser chooser;
  private final Clock clock;
  private final RedundancySettings settings;
  private final RedundancyQueue queue;
  private final Assessor assessor;
  private final BlockTypes types;
  private final ByteBudget bytes;
  private final PendingReplicationRegistry pending = new PendingReplicationRegistry();
  // By block, the servers of replications that did not arrive in time.
  private final Map<Long, Set<String>> avoided = new LinkedHashMap<>();
  // By server, the copies to it that did not arrive in time since the last one that did.
  private final Map<String, Integer> failures = new ConcurrentHashMap<>();

  ReplicationScheduler(
      DatanodeRegistry cluster,
      DatanodeCommandQueue commands,
      ReplicaTargetChooser chooser,
      Clock clock,
      RedundancySettings settings,
      RedundancyQueue queue,
      Assessor assessor,
      BlockTypes types) {
    this.cluster = cluster;
    this.commands = commands;
    this.chooser = chooser;
    this.clock = clock;
    this.settings = settings;
    this.queue = queue;
    this.assessor = assessor;
    this.types = types;
    this.bytes = new ByteBudget(settings.copyRate(), clock);
  }

  void arrived(long blockId, String serverUuid) {
    failures.remove(serverUuid);
    synchronized (pending) {
      pending.arrived(blockId, serverUuid);
    }
  }

  void serverDied(String serverUuid) {
    synchronized (pending) {
      pending.takeOf(serverUuid).forEach(replication -> queue.check(replication.blockId()));
    }
  }

  int pendingCount() {
    synchronized (pending) {
      return pending.size();
    }
  }

  /** Notes whether a settled block in no stripe is under-replicated. */
  void note(long blockId, BlockAssessment block) {
    if (block.isWholeButLeaving()) {
      queue.leaves(blockId, block.counted().size(), dueMillis(block));
    } else if (block.counted().size() < block.wanted() && !isAwaited(block)) {
      queue.underReplicated(blockId, block.live().size(), dueMillis(block));
    } else {
      notNeeded(blockId);
    }
  }

  /**
   * When the block may be replicated. A block waits for the return of a lost server or disk, unless
   * the next failure would lose the block.
   */
  private long dueMillis(BlockAssessment block) {
    long soon = clock.millis() + DELAY_MILLIS;
    List<Long> ends = block.absentSince(cluster, clock.millis() - settings.repairDelayMillis());
    boolean maySuffice = block.counted().size() + ends.size() >= block.wanted();
    return ends.isEmpty() || !maySuffice || isUrgent(block)
        ? soon
        : Math.max(soon, Collections.min(ends) + settings.repairDelayMillis());
  }

  /**
   * Whether servers that hibernate have what the block lacks, and the next failure does not lose
   * the block. When a hibernation ends without the server, a walk over its disks finds the block.
   */
  private boolean isAwaited(BlockAssessment block) {
    long awaited = block.awaited(cluster);
    return awaited > 0 && block.counted().size() + awaited >= block.wanted() && !isUrgent(block);
  }

  private boolean isUrgent(BlockAssessment block) {
    return block.servers(cluster) <= 1 && !block.isWholeButLeaving();
  }

  /** The block has enough replicas, or does not exist any more. */
  void notNeeded(long blockId) {
    queue.notUnderReplicated(blockId);
    avoided.remove(blockId);
  }

  /** Gives up replications that have not arrived in time; their blocks are examined again. */
  void retryOverdue() {
    List<Replication> overdue;
    synchronized (pending) {
      overdue = pending.takeOverdue(clock.millis());
    }
    for (Replication replication : overdue) {
      LOG.warn(
          "replica of block {} from server {} to {} did not arrive within {} ms; other servers are"
              + " tried",
          replication.blockId(),
          replication.sourceUuid(),
          replication.targetUuid(),
          settings.transferTimeoutMillis());
      avoid(replication);
      queue.check(replication.blockId());
    }
  }

  private void avoid(Replication replication) {
    avoided.keySet().stream()
        .findFirst()
        .filter(eldest -> avoided.size() >= settings.queueLimit())
        .ifPresent(avoided::remove);
    Set<String> servers =
        avoided.computeIfAbsent(replication.blockId(), ignored -> new HashSet<>());
    servers.add(replication.sourceUuid());
    servers.add(replication.targetUuid());
    failures.merge(replication.targetUuid(), 1, Integer::sum);
  }

  /** Forgets, some at a time, the blocks without a replica that are deleted or have one again. */
  void recheckMissing() throws IOException {
    int most = Math.max(1, settings.blocksPerTick() / MISSING_SHARE);
    for (long blockId : queue.takeTurnOfMissing(most)) {
      recheck(blockId);
    }
  }

  /** Notes the present state of a block in the queue; empty if the queue is not for the block. */
  private Optional<BlockAssessment> recheck(long blockId) throws IOException {
    Optional<BlockAssessment> found =
        assessor
            .assess(blockId)
            .filter(block -> block.settled() && !block.striped() && !isAwaited(block));
    found.ifPresentOrElse(block -> note(blockId, block), () -> notNeeded(blockId));
    return found;
  }

  /** Orders replications of the blocks with the fewest replicas, as far as servers are free. */
  void orderReplications() throws IOException {
    for (long blockId : queue.repairable(settings.blocksPerTick(), clock.millis())) {
      if (freeTransfers() == 0) {
        return;
      }
      Optional<BlockAssessment> found = recheck(blockId);
      if (found.isEmpty()) {
        continue;
      }
      if (!bytes.allows(Set.of(), isUrgent(found.get()))) {
        return;
      }
      order(blockId, found.get());
      queue.rotate(blockId);
    }
  }

  private int freeTransfers() {
    synchronized (pending) {
      return cluster.liveServers().stream()
          .mapToInt(s -> Math.max(0, settings.transfersPerServer() - pending.sending(s.uuid())))
          .sum();
    }
  }

  private void order(long blockId, BlockAssessment block) throws IOException {
    List<Replication> underWay;
    synchronized (pending) {
      underWay = List.copyOf(pending.of(blockId));
    }
    Set<String> occupied = new HashSet<>();
    block.all().stream()
        .flatMap(replica -> cluster.disk(replica.storageUuid()).stream())
        .filter(disk -> cluster.isLive(disk.storageUuid()))
        .forEach(disk -> occupied.add(disk.serverUuid()));
    underWay.forEach(replication -> occupied.add(replication.targetUuid()));
    int missing = block.wanted() - block.counted().size() - underWay.size();
    for (int i = 0; i < missing; i++) {
      Optional<Server> source = source(blockId, block);
      Optional<Target> target = source.isEmpty() ? Optional.empty() : target(block, occupied);
      if (target.isEmpty()) {
        return;
      }
      occupied.add(target.get().server().uuid());
      order(blockId, block, source.get(), target.get());
    }
  }

  /** Returns false if too many bytes are under way. */
  private boolean order(long blockId, BlockAssessment block, Server source, Target target) {
    long length = block.block().getLengthBytes();
    boolean allowed =
        bytes.take(takes(source, target.server(), length), 2 * length, isUrgent(block));
    if (!allowed) {
      return false;
    }
    synchronized (pending) {
      pending.add(
          new Replication(
              blockId,
              source.uuid(),
              target.server().uuid(),
              clock.millis() + settings.transferTimeoutMillis()));
    }
    commands.transfer(source.uuid(), new DatanodeCommandQueue.Transfer(block.block(), target));
    return true;
  }

  /** Whether a replica of the block is on its way. */
  boolean isUnderWay(long blockId) {
    synchronized (pending) {
      return !pending.of(blockId).isEmpty();
    }
  }

  /**
   * Orders a copy that a block does not lack.
   *
   * @return false if the two servers have no free transfers or bytes now
   */
  boolean move(BlockAssessment block, Server source, Target target) {
    synchronized (pending) {
      if (pending.sending(source.uuid()) >= settings.transfersPerServer()
          || pending.receiving(target.server().uuid()) >= settings.transfersPerServer()
          || !bytes.allows(takes(source, target.server(), 0).keySet(), false)) {
        return false;
      }
    }
    return order(block.block().getBlockId(), block, source, target);
  }

  /** What a copy takes from the two servers; a replica may also move within one server. */
  private static Map<String, Long> takes(Server source, Server target, long lengthBytes) {
    return source.uuid().equals(target.uuid())
        ? Map.of(source.uuid(), lengthBytes)
        : Map.of(source.uuid(), lengthBytes, target.uuid(), lengthBytes);
  }

  /** The holder that sends the least. A holder that failed the block before comes last. */
  private Optional<Server> source(long blockId, BlockAssessment block) {
    Set<String> failedBefore = avoided.getOrDefault(blockId, Set.of());
    synchronized (pending) {
      return block.live().stream()
          .flatMap(replica -> cluster.disk(replica.storageUuid()).stream())
          .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
          .filter(server -> pending.sending(server.uuid()) < settings.transfersPerServer())
          .filter(server -> bytes.allows(Set.of(server.uuid()), isUrgent(block)))
          .min(
              Comparator.comparing((Server server) -> failedBefore.contains(server.uuid()))
                  .thenComparing(cluster::isOverdue)
                  .thenComparing(server -> pending.sending(server.uuid())));
    }
  }

  /**
   * A server that has not failed the block before. If those with a disk of the right type have
   * failed it, or fail all blocks, a disk of another type is better than no replica. If all servers
   * have failed the block, all are tried again.
   */
  private Optional<Target> target(BlockAssessment block, Set<String> occupied) throws IOException {
    Set<String> busy = new HashSet<>(occupied);
    synchronized (pending) {
      cluster.liveServers().stream()
          .filter(
              server ->
                  pending.receiving(server.uuid()) >= settings.transfersPerServer()
                      || !bytes.allows(Set.of(server.uuid()), isUrgent(block)))
          .forEach(server -> busy.add(server.uuid()));
    }
    Set<String> failed = avoided.getOrDefault(block.block().getBlockId(), Set.of());
    Set<String> hopeless = union(occupied, failed);
    failures.forEach(
        (server, inARow) -> {
          if (inARow >= MANY_FAILURES) {
            hopeless.add(server);
          }
        });
    Optional<Target> untried = choose(block, union(busy, failed), types.forCopy(block, hopeless));
    if (untried.isPresent()) {
      return untried;
    }
    avoided.remove(block.block().getBlockId());
    return choose(block, busy, types.forCopy(block, occupied));
  }

  private static Set<String> union(Set<String> some, Set<String> others) {
    Set<String> all = new HashSet<>(some);
    all.addAll(others);
    return all;
  }

  private Optional<Target> choose(BlockAssessment block, Set<String> excluded, TypeWish wish) {
    try {
      return Optional.of(
          chooser
              .choose(
                  new WriteRequest(
                          "block " + block.block().getBlockId(),
                          1,
                          block.block().getLengthBytes(),
                          null,
                          excluded,
                          Set.of())
                      .on(wish))
              .get(0));
    } catch (IOException e) {
      LOG.debug("no target for a replica: {}", e.getMessage());
      return Optional.empty();
    }
  }
}
