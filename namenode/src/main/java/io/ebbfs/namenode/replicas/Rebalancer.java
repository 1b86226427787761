package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ByteBudget;
import io.ebbfs.namenode.datanodes.ByteRate;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RebalanceSettings;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.placement.BalancePlan;
import io.ebbfs.namenode.placement.TargetGrader;
import io.ebbfs.namenode.replicas.BarrenDisks.Found;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.MovableBlocks.Movable;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.StorageType;

/**
 * Levels the fullness of the disks in the background: replicas move from the fullest disks to the
 * emptiest ones. A replica is copied first, and the old one becomes an excess replica, which {@link
 * ExcessReplicaMarker} deletes; so no block ever has fewer replicas, and a crash leaves one too
 * many. A move never lowers the number of racks, and it keeps the type of the disk; nothing goes to
 * a disk of type RAM_DISK, which a restart empties. Candidates are read in pages from the fullest
 * disks; nothing visits every block. If a disk has no replica to move, members of stripes that are
 * on it move as transitions ({@link StripeService#level}).
 *
 * <p>One thread calls {@link #tick}; the other methods are thread-safe.
 */
public final class Rebalancer {
  /** Blocks that are looked at for one disk in a tick. */
  private static final int CANDIDATES = 16;

  /** Disks from which moves begin in a tick. */
  private static final int SOURCES = 8;

  /** Moves of one server, as a source or as a target. */
  private static final int MOVES_PER_SERVER = 4;

  /** Members of stripes that move at a time; each is a transition. */
  private static final int MEMBERS = 4;

  /** Disks that may get a member. */
  private static final int MEMBER_TARGETS = 8;

  /** A wish that has not become a move by then is taken back. */
  private static final long MEMBER_MILLIS = 120_000;

  /** A replica on its way. */
  private record Move(
      BlockRow block,
      long ownerId,
      String from,
      String to,
      long bytes,
      long deadlineMillis,
      boolean isMember) {

    /** A member of a stripe may have gone to another disk than the first that was wished. */
    private boolean isDone(Set<String> places) {
      return !places.contains(from) && (isMember ? !places.isEmpty() : places.contains(to));
    }
  }

  /** How far the rebalance is. */
  public record Progress(
      RebalanceSettings settings,
      double meanShare,
      List<BalancePlan.Flow> flows,
      long bytesToMove,
      long movedBlocks,
      long movedBytes,
      int underWay,
      Optional<String> stuck) {}

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final DatanodeCommandQueue commands;
  private final MovableBlocks movable;
  private final ReplacedReplicas replaced;
  private final Clock clock;
  private final RedundancySettings redundancy;
  private final Map<Long, Move> moves = new HashMap<>();
  private final BarrenDisks barren;
  private final RefusedMembers refused;
  private StripeService stripes;
  // Whether a disk has members for which the scanner of stripes had no room, as last seen.
  private boolean membersWait;
  private volatile RebalanceSettings settings = RebalanceSettings.DEFAULTS;
  private ByteBudget budget;
  private volatile long movedBlocks;
  private volatile long movedBytes;
  private volatile int underWay;
  private volatile Optional<String> stuck = Optional.empty();

  Rebalancer(
      MetadataStore store,
      DatanodeRegistry cluster,
      DatanodeCommandQueue commands,
      MovableBlocks movable,
      ReplacedReplicas replaced,
      Clock clock,
      RedundancySettings redundancy) {
    this.store = store;
    this.cluster = cluster;
    this.commands = commands;
    this.movable = movable;
    this.replaced = replaced;
    this.clock = clock;
    this.redundancy = redundancy;
    this.budget = budget(settings);
    this.barren = new BarrenDisks(clock);
    this.refused = new RefusedMembers(clock);
  }

  /** Sets the stripes; called once, before the first tick. */
  synchronized void bind(StripeService service) {
    stripes = service;
  }

  private ByteBudget budget(RebalanceSettings of) {
    return new ByteBudget(new ByteRate(0, of.bytesPerSecond()), clock);
  }

  /** Begins, changes or stops the rebalance. Moves under way go on; wishes are taken back. */
  public synchronized void set(RebalanceSettings wanted) {
    if (wanted.bytesPerSecond() != settings.bytesPerSecond()) {
      budget = budget(wanted);
    }
    settings = wanted;
    stuck = Optional.empty();
    barren.clear();
    refused.clear();
    if (!wanted.on()) {
      moves.values().removeIf(this::takeBack);
    }
  }

  public RebalanceSettings settings() {
    return settings;
  }

  /** How far the rebalance is, or what it would do with these settings. */
  public Progress progress(RebalanceSettings with) {
    BalancePlan plan = plan(with.threshold());
    return new Progress(
        with,
        plan.mean(),
        plan.flows(),
        plan.bytesToMove(),
        movedBlocks,
        movedBytes,
        underWay,
        stuck);
  }

  private BalancePlan plan(double threshold) {
    List<BalancePlan.Disk> disks = new ArrayList<>();
    for (Server server : cluster.serversForBlocks()) {
      for (ClusterView.Disk known : server.disks()) {
        ClusterView.Disk disk = cluster.disk(known.storageUuid()).orElse(known);
        if (!disk.failed() && disk.type() != StorageType.RAM_DISK) {
          disks.add(
              new BalancePlan.Disk(
                  disk.storageUuid(),
                  server.uuid(),
                  disk.type().name(),
                  disk.capacityBytes(),
                  disk.usedBytes(),
                  disk.remainingBytes()));
        }
      }
    }
    return BalancePlan.of(disks, threshold);
  }

  /** Looks at the moves under way, and begins others, up to the limits. */
  synchronized void tick() throws IOException {
    finish();
    if (settings.on() && !cluster.inSafeMode()) {
      BalancePlan plan = plan(settings.threshold());
      moves.values().forEach(move -> plan.moved(move.from(), move.to(), move.bytes()));
      begin(plan);
    }
    underWay = moves.size();
  }

  /** Forgets the moves that are done, those that are refused, and those that take too long. */
  private void finish() throws IOException {
    Iterator<Move> all = moves.values().iterator();
    while (all.hasNext()) {
      Move move = all.next();
      // Before the places: a transition may just now become the new place.
      boolean hasEnded = move.isMember() && !isPending(move);
      Set<String> places = places(move);
      if (move.isDone(places)) {
        movedBlocks++;
        movedBytes += move.bytes();
        noteSuccess(move);
        all.remove();
      } else if (hasEnded && places.equals(Set.of(move.from()))) {
        refused.add(move.block().getBlockId());
        budget.giveBack(Map.of(), move.bytes());
        all.remove();
      } else if (places.isEmpty() || isOverdue(move)) {
        boolean waited = takeBack(move);
        // The file is deleted, or the copy has failed: another block is taken. But a transition
        // that has not begun, or runs, ends by itself.
        if (waited || places.isEmpty() || !move.isMember() || hasEnded) {
          all.remove();
        }
      }
    }
  }

  private boolean isOverdue(Move move) {
    return clock.millis() >= move.deadlineMillis();
  }

  private void noteSuccess(Move move) {
    if (move.isMember()) {
      barren.moved(move.from());
      stuck = Optional.empty();
    }
  }

  /** Whether the wish to move a member waits, or is a transition that has not ended. */
  private boolean isPending(Move move) throws IOException {
    long stripeId = move.block().getStripeId();
    return stripes.awaitsLevel(stripeId)
        || store.transact(
            stripeId,
            Durability.RELAXED,
            transaction -> stripes.isLevelling(transaction, stripeId));
  }

  /** Takes back the wish to move a member, if it waits; false if there is none. */
  private boolean takeBack(Move move) {
    boolean waited = move.isMember() && stripes.withdrawLevel(move.block().getStripeId());
    if (waited) {
      budget.giveBack(Map.of(), move.bytes());
    }
    return waited;
  }

  /** The disks with a good replica of the block. */
  private Set<String> places(Move move) throws IOException {
    List<Replica> replicas =
        store.transact(
            move.ownerId(),
            Durability.RELAXED,
            t -> ReplicaRows.of(t, move.ownerId(), move.block().getBlockId()));
    return replicas.stream()
        .filter(replica -> ReplicaRows.isGood(move.block(), replica.row()))
        .map(Replica::storageUuid)
        .collect(Collectors.toSet());
  }

  private void begin(BalancePlan plan) throws IOException {
    if (stripes != null && stripes.mayLevel()) {
      barren.noteRoom();
    }
    List<BalancePlan.Disk> sources = plan.sources();
    List<BalancePlan.Disk> fertile =
        sources.stream().filter(disk -> !barren.has(disk.storageUuid())).limit(SOURCES).toList();
    int begun = 0;
    membersWait = barren.someWaitForRoom();
    for (BalancePlan.Disk source : fertile) {
      Optional<ClusterView.Disk> disk = cluster.disk(source.storageUuid());
      if (!mayMoveMore() || !budget.allows(Set.of(), false)) {
        return;
      }
      if (disk.isPresent() && isFree(source.serverUuid())) {
        begun += begin(plan, source, disk.get());
      }
    }
    if (!sources.isEmpty() && begun == 0 && moves.isEmpty()) {
      BalancePlan.Disk first = sources.get(0);
      stuck =
          Optional.of(
              "no replica among those looked at on disk %s of server %s can move now: its blocks %s"
                  .formatted(first.storageUuid(), nameOf(first.serverUuid()), whyNot()));
    } else if (begun > 0) {
      stuck = Optional.empty();
    }
  }

  private String whyNot() {
    return membersWait
        ? "are in stripes, of which as many are re-placed already as may be"
        : "are written, change, or would be less safe elsewhere";
  }

  private String nameOf(String serverUuid) {
    return cluster.server(serverUuid).map(Server::name).orElse(serverUuid);
  }

  private boolean mayMoveMore() {
    return current().count() < settings.moves();
  }

  /** The moves but members whose transitions wait behind others: those hold up no replicas. */
  private Stream<Move> current() {
    return moves.values().stream().filter(move -> !isOverdue(move));
  }

  private boolean isFree(String serverUuid) {
    return current()
            .filter(move -> cluster.serversOf(List.of(move.from(), move.to())).contains(serverUuid))
            .count()
        < MOVES_PER_SERVER;
  }

  private int begin(BalancePlan plan, BalancePlan.Disk source, ClusterView.Disk disk)
      throws IOException {
    int begun = 0;
    MovableBlocks.Some some = movable.some(disk, CANDIDATES, blockId -> !refused.has(blockId));
    for (Movable block : some.blocks()) {
      if (!mayMoveMore() || !isFree(source.serverUuid())) {
        break;
      }
      Optional<BalancePlan.Disk> target =
          moves.containsKey(block.block().getBlockId())
              ? Optional.empty()
              : target(plan, source, block);
      if (target.isPresent()) {
        if (!budget.take(Map.of(), block.block().getLengthBytes(), false)) {
          break;
        }
        order(plan, source, target.get(), block);
        begun++;
      }
    }
    Found found = some.blocks().isEmpty() ? Found.NOTHING : Found.MOVABLE;
    if (begun == 0 && !level(plan, source, some.members())) {
      membersWait = true;
      found = found.or(Found.WAITING_MEMBERS);
    }
    // A wish may be refused: it counts once the member has moved.
    barren.looked(disk.storageUuid(), found, some.atEnd());
    return begun;
  }

  /** Asks for moves of members of stripes; false if there is no room for more now. */
  private boolean level(BalancePlan plan, BalancePlan.Disk source, List<StoredBlock> members) {
    for (StoredBlock member : members) {
      long underWay = moves.values().stream().filter(Move::isMember).count();
      if (stripes == null
          || underWay >= MEMBERS
          || !mayMoveMore()
          || !isFree(source.serverUuid())
          || !budget.allows(Set.of(), false)) {
        break;
      }
      BlockRow block = member.block();
      List<BalancePlan.Disk> targets =
          targets(plan, source, block.getLengthBytes())
              .filter(disk -> isFree(disk.serverUuid()))
              .limit(MEMBER_TARGETS)
              .toList();
      boolean isMoving = moves.containsKey(block.getBlockId()) || isLevelling(block.getStripeId());
      if (!targets.isEmpty() && !isMoving) {
        if (!stripes.level(wish(block, source, targets))) {
          return false;
        }
        budget.take(Map.of(), block.getLengthBytes(), false);
        note(plan, source, targets.get(0), member);
      }
    }
    return true;
  }

  /** Whether a member of the stripe moves: others of it would wait for that one. */
  private boolean isLevelling(long stripeId) {
    return moves.values().stream()
        .anyMatch(move -> move.isMember() && move.block().getStripeId() == stripeId);
  }

  private static MemberMove wish(
      BlockRow block, BalancePlan.Disk source, List<BalancePlan.Disk> targets) {
    return new MemberMove(
        block.getStripeId(),
        block.getStripePosition(),
        source.storageUuid(),
        targets.stream().map(BalancePlan.Disk::storageUuid).toList());
  }

  private void note(
      BalancePlan plan, BalancePlan.Disk source, BalancePlan.Disk target, StoredBlock member) {
    long bytes = member.block().getLengthBytes();
    moves.put(
        member.block().getBlockId(),
        new Move(
            member.block(),
            member.ownerId(),
            source.storageUuid(),
            target.storageUuid(),
            bytes,
            clock.millis() + MEMBER_MILLIS,
            true));
    plan.moved(source.storageUuid(), target.storageUuid(), bytes);
  }

  /** The emptiest disk on which the replica is as safe as before. */
  private Optional<BalancePlan.Disk> target(
      BalancePlan plan, BalancePlan.Disk source, Movable block) {
    Set<String> holders =
        block.places().stream().map(ClusterView.Disk::serverUuid).collect(Collectors.toSet());
    long racks = racks(holders);
    return targets(plan, source, block.block().getLengthBytes())
        .filter(disk -> !holders.contains(disk.serverUuid()))
        .filter(disk -> isFree(disk.serverUuid()))
        .filter(disk -> racks(replaced(holders, source.serverUuid(), disk.serverUuid())) >= racks)
        .findFirst();
  }

  /** The disks that may get a block, the emptiest first: a disk that errs is not filled again. */
  private Stream<BalancePlan.Disk> targets(
      BalancePlan plan, BalancePlan.Disk source, long lengthBytes) {
    return plan.targets(source, lengthBytes).stream()
        .filter(disk -> cluster.disk(disk.storageUuid()).filter(TargetGrader::errs).isEmpty());
  }

  private static Set<String> replaced(Set<String> holders, String from, String to) {
    return holders.stream()
        .map(holder -> holder.equals(from) ? to : holder)
        .collect(Collectors.toSet());
  }

  private long racks(Set<String> serverUuids) {
    return serverUuids.stream()
        .flatMap(uuid -> cluster.server(uuid).stream())
        .map(Server::rack)
        .distinct()
        .count();
  }

  private void order(
      BalancePlan plan, BalancePlan.Disk source, BalancePlan.Disk target, Movable block) {
    Optional<Server> server = cluster.server(target.serverUuid());
    Optional<ClusterView.Disk> disk = cluster.disk(target.storageUuid());
    if (server.isEmpty() || disk.isEmpty()) {
      return; // it has gone just now
    }
    long bytes = block.block().getLengthBytes();
    replaced.note(block.block().getBlockId(), source.serverUuid());
    moves.put(
        block.block().getBlockId(),
        new Move(
            block.block(),
            block.ownerId(),
            source.storageUuid(),
            target.storageUuid(),
            bytes,
            clock.millis() + 2 * redundancy.transferTimeoutMillis(),
            false));
    plan.moved(source.storageUuid(), target.storageUuid(), bytes);
    commands.transfer(
        source.serverUuid(),
        new DatanodeCommandQueue.Transfer(block.block(), new Target(server.get(), disk.get())));
  }
}
