package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockOwners.Owned;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.BlockService.Target;
import io.ebbfs.namespace.block.BlockService.WriteRequest;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.namespace.block.Copies.Copy;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that plain blocks have the replicas they want, and no block has more. Events say which
 * blocks to look at; what is to be done follows from rows and live disks at that moment alone.
 * Members of stripes are not copied here: their stripe gets a hint.
 *
 * <p>{@link #tick} is called by one thread; the other methods are thread-safe and quick.
 */
final class Redundancy {
  private static final Logger LOG = LoggerFactory.getLogger(Redundancy.class);
  private static final int PAGE = 1_000;
  private static final long OPEN_RECHECK_MILLIS = 2_000;
  // A block is complete with its first report: the others of its pipeline are on their way.
  private static final long COPY_DELAY_MILLIS = 2_000;

  private final MetadataStore store;
  private final ClusterMap cluster;
  private final Commands commands;
  private final TargetChooser chooser;
  private final Surplus surplus;
  private final Clock clock;
  private final BlockSettings settings;
  private final WorkQueue queue;
  private final Copies copies = new Copies();
  // Servers whose copy of the block did not arrive the last time.
  private final Map<Long, Set<String>> avoid = new LinkedHashMap<>();
  // Disks whose blocks to look at, by uuid, and how far that has come.
  private final Map<String, Optional<Key>> disksToScan = new LinkedHashMap<>();
  private volatile LongConsumer stripeHint = stripeId -> {};

  Redundancy(
      MetadataStore store,
      ClusterMap cluster,
      Commands commands,
      TargetChooser chooser,
      Clock clock,
      BlockSettings settings) {
    this.store = store;
    this.cluster = cluster;
    this.commands = commands;
    this.chooser = chooser;
    this.surplus = new Surplus(store, cluster, commands);
    this.clock = clock;
    this.settings = settings;
    this.queue = new WorkQueue(settings.queueLimit());
  }

  // ---- hints ------------------------------------------------------------------------------------

  void onStripe(LongConsumer hint) {
    stripeHint = hint;
  }

  void check(long blockId) {
    queue.check(blockId);
  }

  void checkLater(long blockId) {
    queue.checkLater(blockId, clock.millis() + OPEN_RECHECK_MILLIS);
  }

  void checkStripe(long stripeId) {
    stripeHint.accept(stripeId);
  }

  /** A good replica was reported. */
  void arrived(String storageUuid, long blockId) {
    cluster
        .disk(storageUuid)
        .ifPresent(
            disk -> {
              synchronized (copies) {
                copies.arrived(blockId, disk.serverUuid());
              }
            });
  }

  /** All blocks on the disk are to be looked at. */
  void checkDisk(Disk disk) {
    synchronized (disksToScan) {
      disksToScan.put(disk.storageUuid(), Optional.empty());
    }
  }

  /** A server is dead: what it was to be told, or to receive, is void. */
  void serverDied(Server server) {
    commands.forget(server.uuid());
    synchronized (copies) {
      copies.takeOf(server.uuid()).forEach(copy -> queue.check(copy.blockId()));
    }
    server.disks().forEach(this::checkDisk);
  }

  int underReplicatedBlocks() {
    return queue.lackingCount();
  }

  int missingBlocks() {
    return queue.missingCount();
  }

  int copiesUnderWay() {
    synchronized (copies) {
      return copies.size();
    }
  }

  // ---- the periodic work
  // --------------------------------------------------------------------------

  void tick() throws IOException {
    retryOverdue();
    scanDisks();
    for (long blockId : queue.take(settings.blocksPerTick(), clock.millis())) {
      examine(blockId);
    }
    orderCopies();
  }

  private void retryOverdue() {
    List<Copy> overdue;
    synchronized (copies) {
      overdue = copies.takeOverdue(clock.millis());
    }
    for (Copy copy : overdue) {
      LOG.warn(
          "copy of block {} from server {} to {} did not arrive within {} ms; trying elsewhere",
          copy.blockId(),
          copy.sourceUuid(),
          copy.targetUuid(),
          settings.transferTimeoutMillis());
      avoid.keySet().stream()
          .findFirst()
          .filter(eldest -> avoid.size() >= settings.queueLimit())
          .ifPresent(avoid::remove);
      Set<String> servers = avoid.computeIfAbsent(copy.blockId(), ignored -> new HashSet<>());
      servers.add(copy.sourceUuid());
      servers.add(copy.targetUuid());
      queue.check(copy.blockId());
    }
  }

  /** As far as the queue has room; the rest at the next tick. */
  private void scanDisks() throws IOException {
    Map<String, Optional<Key>> todo;
    synchronized (disksToScan) {
      todo = new LinkedHashMap<>(disksToScan);
    }
    for (Map.Entry<String, Optional<Key>> entry : todo.entrySet()) {
      Optional<Disk> disk = cluster.disk(entry.getKey());
      Optional<Key> at = entry.getValue();
      boolean done = disk.isEmpty();
      while (!done && queue.room() >= PAGE) {
        Key reached = scanPage(disk.get(), at.orElse(null));
        done = reached == null;
        at = Optional.ofNullable(reached);
      }
      synchronized (disksToScan) {
        if (done) {
          disksToScan.remove(entry.getKey(), entry.getValue());
        } else {
          disksToScan.replace(entry.getKey(), entry.getValue(), at);
        }
      }
    }
  }

  /** The key reached, or null at the end. */
  private Key scanPage(Disk disk, Key after) throws IOException {
    List<Row<StorageReplicaRow>> page =
        store.transact(
            disk.storageNumber(),
            Durability.RELAXED,
            t -> t.scan(Tables.STORAGE_REPLICA, disk.storageNumber(), after, PAGE));
    List<Long> ids = page.stream().map(row -> row.key().firstLong()).toList();
    Map<Long, Owned> owners =
        store.transact(disk.storageNumber(), Durability.RELAXED, t -> BlockOwners.lookUp(t, ids));
    owners.forEach(
        (id, owned) -> {
          if (owned.striped()) {
            checkStripe(owned.block().getStripeId());
          }
          queue.check(id);
        });
    return page.size() < PAGE ? null : page.get(page.size() - 1).key();
  }

  private Optional<Assessment> assess(long blockId) throws IOException {
    return store.transact(
        blockId,
        Durability.RELAXED,
        transaction -> {
          Owned owned = BlockOwners.lookUp(transaction, List.of(blockId)).get(blockId);
          return owned == null || owned.isOutput()
              ? Optional.empty()
              : Optional.of(Assessment.of(transaction, cluster, owned));
        });
  }

  private void examine(long blockId) throws IOException {
    Optional<Assessment> found = assess(blockId);
    if (found.isEmpty()) {
      queue.fine(blockId);
      avoid.remove(blockId);
      return;
    }
    Assessment block = found.get();
    if (!block.settled()) {
      queue.fine(blockId);
      checkLater(blockId);
      return;
    }
    if (block.striped()) {
      queue.fine(blockId);
      if (block.live().isEmpty()) {
        checkStripe(block.block().getStripeId());
      }
    } else {
      note(blockId, block);
    }
    if (surplus.hasWork(block)) {
      commands.invalidate(surplus.tidy(blockId));
      if (block.striped()) {
        checkStripe(block.block().getStripeId());
      }
    }
  }

  private void note(long blockId, Assessment block) {
    if (block.live().size() < block.wanted()) {
      queue.lacks(blockId, block.live().size(), clock.millis());
    } else {
      queue.fine(blockId);
      avoid.remove(blockId);
    }
  }

  // ---- copies
  // -------------------------------------------------------------------------------------

  private void orderCopies() throws IOException {
    long since = clock.millis() - COPY_DELAY_MILLIS;
    for (long blockId : queue.repairable(settings.blocksPerTick(), since)) {
      if (freeSlots() == 0) {
        return;
      }
      Optional<Assessment> found = assess(blockId);
      if (found.isEmpty() || !found.get().settled() || found.get().striped()) {
        queue.fine(blockId);
        continue;
      }
      note(blockId, found.get());
      orderCopies(blockId, found.get());
      queue.rotate(blockId);
    }
  }

  private int freeSlots() {
    synchronized (copies) {
      return cluster.liveServers().stream()
          .mapToInt(s -> Math.max(0, settings.transfersPerServer() - copies.sending(s.uuid())))
          .sum();
    }
  }

  private void orderCopies(long blockId, Assessment block) {
    List<Copy> underWay;
    synchronized (copies) {
      underWay = List.copyOf(copies.of(blockId));
    }
    Set<String> occupied = new HashSet<>();
    block.all().stream()
        .flatMap(replica -> cluster.disk(replica.storageUuid()).stream())
        .filter(disk -> cluster.isLive(disk.storageUuid()))
        .forEach(disk -> occupied.add(disk.serverUuid()));
    underWay.forEach(copy -> occupied.add(copy.targetUuid()));
    int lacking = block.wanted() - block.live().size() - underWay.size();
    for (int i = 0; i < lacking; i++) {
      Optional<Server> source = source(blockId, block);
      Optional<Target> target = source.isEmpty() ? Optional.empty() : target(block, occupied);
      if (target.isEmpty()) {
        return;
      }
      occupied.add(target.get().server().uuid());
      synchronized (copies) {
        copies.add(
            new Copy(
                blockId,
                source.get().uuid(),
                target.get().server().uuid(),
                clock.millis() + settings.transferTimeoutMillis()));
      }
      commands.transfer(source.get().uuid(), new Commands.Transfer(block.block(), target.get()));
    }
  }

  /** The holder with the least to send, one that has not failed the block if there is another. */
  private Optional<Server> source(long blockId, Assessment block) {
    Set<String> avoided = avoid.getOrDefault(blockId, Set.of());
    synchronized (copies) {
      return block.live().stream()
          .flatMap(replica -> cluster.disk(replica.storageUuid()).stream())
          .flatMap(disk -> cluster.server(disk.serverUuid()).stream())
          .filter(server -> copies.sending(server.uuid()) < settings.transfersPerServer())
          .min(
              Comparator.comparing((Server server) -> avoided.contains(server.uuid()))
                  .thenComparing(cluster::isStale)
                  .thenComparing(server -> copies.sending(server.uuid())));
    }
  }

  private Optional<Target> target(Assessment block, Set<String> occupied) {
    Set<String> busy = new HashSet<>(occupied);
    synchronized (copies) {
      cluster.liveServers().stream()
          .filter(server -> copies.receiving(server.uuid()) >= settings.transfersPerServer())
          .forEach(server -> busy.add(server.uuid()));
    }
    Set<String> excluded = new HashSet<>(busy);
    excluded.addAll(avoid.getOrDefault(block.block().getBlockId(), Set.of()));
    return choose(block, excluded).or(() -> choose(block, busy));
  }

  private Optional<Target> choose(Assessment block, Set<String> excluded) {
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
                      Set.of()))
              .get(0));
    } catch (IOException e) {
      LOG.debug("no place for a copy: {}", e.getMessage());
      return Optional.empty();
    }
  }

  // ---- deletions
  // ------------------------------------------------------------------------------------

  /**
   * Those of the deletions that are still right, at the moment they go out: the replica is of no
   * block, or doomed while the block is whole without it. The others are looked at again.
   */
  List<Invalidation> approve(List<Invalidation> invalidations) throws IOException {
    if (invalidations.isEmpty()) {
      return List.of();
    }
    List<Long> ids = invalidations.stream().map(Invalidation::blockId).distinct().toList();
    List<Invalidation> approved =
        store.transact(
            ids.get(0),
            Durability.RELAXED,
            transaction -> {
              Map<Long, Owned> owners = BlockOwners.lookUp(transaction, ids);
              List<Invalidation> right = new ArrayList<>();
              for (Invalidation invalidation : invalidations) {
                Owned owned = owners.get(invalidation.blockId());
                if (owned == null
                    || (!owned.isOutput()
                        && surplus.mayDelete(
                            Assessment.of(transaction, cluster, owned), invalidation))) {
                  right.add(invalidation);
                }
              }
              return right;
            });
    invalidations.stream()
        .filter(invalidation -> !approved.contains(invalidation))
        .forEach(invalidation -> checkLater(invalidation.blockId()));
    approved.forEach(commands::markOrdered);
    return approved;
  }
}
