package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.PlacementResult;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.placement.TargetGrade;
import io.ebbfs.namenode.placement.TargetGrader;
import io.ebbfs.namenode.placement.search.RePlacementPlanner;
import io.ebbfs.namenode.placement.search.StripePlacer;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Chooses the target disks of new parities, rebuilt blocks and moved blocks. It hands the present
 * state of the cluster to the pure placement ({@link StripePlacer}, {@link RePlacementPlanner}),
 * and finds out which servers or bytes the cluster lacks if there is no place. Disks that are busy
 * or full, or that err, get new blocks only if no place as good is left elsewhere ({@link
 * TargetGrader}). Thread-safe.
 */
public final class TargetDiskChooser {
  /** A server with this many transfers has load 1: it should not get busier. */
  private static final double BUSY_TRANSFERS = 16;

  /** A disk with this many queued calls has load 1, too. */
  private static final double BUSY_CALLS = 16;

  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final RandomGenerator random;

  public TargetDiskChooser(CodeRegistry codes, ClusterView cluster, RandomGenerator random) {
    this.codes = codes;
    this.cluster = cluster;
    this.random = random;
  }

  /** Disks for a new group of stripes: a replica to keep or a disk to copy to, and the parities. */
  Placement placeNew(StripeGroup group) throws NotPlannableException {
    long seed = seed();
    Ask ask = disks -> StripePlacer.place(group, disks, seed);
    return placed(ask, group.unitLengthBytes(), inService(), false);
  }

  /** A placement with these disks. */
  private interface Ask {
    PlacementResult with(List<PlacementDisk> disks);
  }

  /**
   * Disks for missing blocks of stripes whose other members stay where they are.
   *
   * @param excludedServerUuids servers that take no new block
   * @param strict whether a placement that breaks a rule is refused. A conversion can wait for more
   *     servers; a lost block is rebuilt even in a poor place
   */
  Placement placeMissing(
      ErasureCode code,
      List<? extends Map<Integer, PlacementDisk>> members,
      List<? extends Collection<Integer>> missing,
      long lengthBytes,
      Set<String> excludedServerUuids,
      boolean strict)
      throws NotPlannableException {
    long seed = seed();
    Ask ask =
        disks ->
            StripePlacer.placeMissing(
                code, codes.mergesInto(code), members, missing, lengthBytes, disks, seed);
    return placed(ask, lengthBytes, inService(excludedServerUuids), strict);
  }

  /** A disk of a block that has its place, as the placement sees it. */
  PlacementDisk disk(String storageUuid) throws NotPlannableException {
    ClusterView.Disk disk =
        cluster
            .disk(storageUuid)
            .orElseThrow(() -> NotPlannableException.now("disk " + storageUuid + " is not known"));
    Server server =
        cluster
            .server(disk.serverUuid())
            .orElseThrow(
                () -> NotPlannableException.now("server " + disk.serverUuid() + " is not known"));
    return disk(server, disk, TargetGrade.GOOD);
  }

  private static PlacementDisk disk(Server server, ClusterView.Disk disk, TargetGrade grade) {
    return new PlacementDisk(
        disk.storageUuid(),
        server.uuid(),
        server.rack() == null ? "" : server.rack(),
        disk.capacityBytes(),
        disk.remainingBytes(),
        Math.max(server.activeTransfers() / BUSY_TRANSFERS, disk.queuedCalls() / BUSY_CALLS),
        server.isLeaving(),
        grade);
  }

  /**
   * The moves that would make the placement of a stripe better.
   *
   * @throws NotPlannableException if blocks have to leave a server that is drained, and no disk can
   *     take them; the message says why
   */
  public RePlacementPlanner.Moves planMoves(MergeGroup group) throws NotPlannableException {
    List<PlacementDisk> disks = inService();
    RePlacementPlanner.Rules rules = rules(group.stripe().code(), disks);
    RePlacementPlanner.Moves moves = leastBad(group, rules, disks);
    return moves.staying() > 0 && moves.targets().isEmpty()
        ? movesOffLeavingServers(group, moves)
        : moves;
  }

  /** Moves to good disks, or to worse ones if these moves leave fewer rules broken. */
  private RePlacementPlanner.Moves leastBad(
      MergeGroup group, RePlacementPlanner.Rules rules, List<PlacementDisk> disks)
      throws NotPlannableException {
    long seed = seed();
    RePlacementPlanner.Moves best = null;
    for (List<PlacementDisk> targets : PlacementDisk.byGrade(disks)) {
      RePlacementPlanner.Moves moves = rePlacement(group, rules, targets, new Random(seed)).plan();
      if (best == null
          || moves.staying() < best.staying()
          || moves.staying() == best.staying() && moves.left() < best.left()) {
        best = moves;
      }
      if (best.staying() == 0 && best.left() == 0) {
        break;
      }
    }
    return best;
  }

  /**
   * Whether a stripe is as safe as now if one of its blocks moves to a disk: it breaks no more
   * rules of placement, and neither a server nor a rack gets more of its blocks than the one that
   * gives the block has now. The disk keeps room for another block.
   */
  public boolean staysAsSafe(MergeGroup group, int position, String storageUuid)
      throws NotPlannableException {
    StripeState stripe = group.stripe();
    List<PlacementDisk> disks = inService();
    Optional<PlacementDisk> to =
        disks.stream()
            .filter(disk -> disk.storageUuid().equals(storageUuid))
            .filter(disk -> disk.freeBytes() >= 2 * longest(stripe))
            .findFirst();
    Map<Integer, PlacementDisk> now = placeOf(stripe);
    PlacementDisk from = now.get(position);
    if (to.isEmpty()
        || from == null
        || from.serverUuid().equals(to.get().serverUuid())
        || isCrowded(now.values(), from, to.get(), PlacementDisk::serverUuid)
        || isCrowded(now.values(), from, to.get(), PlacementDisk::rack)) {
      return false;
    }
    RePlacementPlanner.Rules rules = rules(stripe.code(), disks);
    MergeGroup moved =
        new MergeGroup(stripe.moved(position, storageUuid), group.slot(), group.others());
    return rePlacement(moved, rules, List.of(), new Random(0)).violations()
        <= rePlacement(group, rules, List.of(), new Random(0)).violations();
  }

  /** Whether the domain that gets a block would then have more of them than the one that gives. */
  private static boolean isCrowded(
      Collection<PlacementDisk> members,
      PlacementDisk from,
      PlacementDisk to,
      Function<PlacementDisk, String> domain) {
    String giver = domain.apply(from);
    String taker = domain.apply(to);
    long given = members.stream().filter(disk -> domain.apply(disk).equals(giver)).count();
    long taken = members.stream().filter(disk -> domain.apply(disk).equals(taker)).count();
    return !giver.equals(taker) && taken + 1 > given;
  }

  /** Places of their own for the blocks on drained servers, while all other blocks stay. */
  private RePlacementPlanner.Moves movesOffLeavingServers(
      MergeGroup group, RePlacementPlanner.Moves found) throws NotPlannableException {
    StripeState stripe = group.stripe();
    List<Map<Integer, PlacementDisk>> members = placeOf(group);
    Set<Integer> leaving = new TreeSet<>();
    members
        .get(group.slot())
        .forEach(
            (position, disk) -> {
              if (disk.leaving()) {
                leaving.add(position);
              }
            });
    List<Set<Integer>> missing = new ArrayList<>(Collections.nCopies(members.size(), Set.of()));
    missing.set(group.slot(), leaving);
    Placement placement =
        placeMissing(stripe.code(), members, missing, longest(stripe), Set.of(), true);
    SortedMap<Integer, PlacementDisk> targets = new TreeMap<>();
    leaving.forEach(position -> targets.put(position, placement.disk(group.slot(), position)));
    return new RePlacementPlanner.Moves(
        found.violations(),
        Math.max(0, found.violations() - leaving.size()),
        leaving.size(),
        0,
        targets,
        found.violationsInWords());
  }

  /**
   * The rules of placement as the cluster is now, for many stripes: each code is looked at once.
   * Not thread-safe.
   */
  public final class Survey {
    private final List<PlacementDisk> disks = inService();
    private final Map<String, RePlacementPlanner.Rules> rulesOfCodes = new HashMap<>();

    /** How many rules the placement of a stripe breaks. The cost follows the stripe's own disks. */
    public int violations(MergeGroup group) throws NotPlannableException {
      ErasureCode code = group.stripe().code();
      RePlacementPlanner.Rules rules =
          rulesOfCodes.computeIfAbsent(code.name(), name -> rules(code, disks));
      return rePlacement(group, rules, List.of(), new Random(0)).violations();
    }
  }

  public Survey survey() {
    return new Survey();
  }

  private RePlacementPlanner.Rules rules(ErasureCode code, List<PlacementDisk> disks) {
    return RePlacementPlanner.Rules.of(code, codes.mergesInto(code), disks);
  }

  /**
   * @param disks that blocks may move to
   */
  private RePlacementPlanner rePlacement(
      MergeGroup group, RePlacementPlanner.Rules rules, List<PlacementDisk> disks, Random random)
      throws NotPlannableException {
    StripeState stripe = group.stripe();
    return new RePlacementPlanner(
        stripe.code(), rules, placeOf(group), group.slot(), longest(stripe), disks, random);
  }

  /** By slot and position: the disks of the blocks of the group. */
  List<Map<Integer, PlacementDisk>> placeOf(MergeGroup group) throws NotPlannableException {
    List<Map<Integer, PlacementDisk>> members = new ArrayList<>();
    for (int slot = 0; slot < group.slots(); slot++) {
      StripeState other = group.others().get(slot);
      if (slot == group.slot()) {
        members.add(placeOf(group.stripe()));
      } else {
        members.add(other == null ? new TreeMap<>() : placeOf(other));
      }
    }
    return members;
  }

  private Map<Integer, PlacementDisk> placeOf(StripeState stripe) throws NotPlannableException {
    Map<Integer, PlacementDisk> members = new TreeMap<>();
    for (Map.Entry<Integer, List<String>> entry : stripe.locations().entrySet()) {
      if (!entry.getValue().isEmpty()) {
        members.put(entry.getKey(), disk(entry.getValue().get(0)));
      }
    }
    return members;
  }

  private static long longest(StripeState stripe) {
    return stripe.members().values().stream()
        .mapToLong(StripeMemberProto::getLengthBytes)
        .max()
        .orElse(0);
  }

  /** All disks that take new blocks: those in service, unless a restart empties them. */
  public List<PlacementDisk> inService() {
    return inService(Set.of());
  }

  private List<PlacementDisk> inService(Set<String> excludedServerUuids) {
    List<PlacementDisk> disks = new ArrayList<>();
    List<Server> servers = cluster.serversForBlocks();
    TargetGrader grader = new TargetGrader(servers);
    for (Server server : servers) {
      if (!excludedServerUuids.contains(server.uuid())) {
        server.disks().stream()
            .filter(d -> !d.failed() && !d.type().isTransient())
            .forEach(d -> disks.add(disk(server, d, grader.of(d))));
      }
    }
    return disks;
  }

  private static Placement placed(
      Ask ask, long lengthBytes, List<PlacementDisk> disks, boolean strict)
      throws NotPlannableException {
    PlacementResult result = ask.with(disks);
    if (isGood(result, strict)) {
      return (Placement) result;
    }
    String reason =
        result instanceof PlacementRefusal refusal
            ? refusal.reason()
            : "the servers in service give no good place: "
                + String.join("; ", ((Placement) result).compromises());
    throw NotPlannableException.noPlace(
        reason,
        () ->
            ShortageFinder.find(
                lengthBytes,
                disks,
                more -> isGood(ask.with(more), strict),
                ", or choose a code with more parities"));
  }

  /**
   * Refuses a stripe that would not survive the loss of a server. The members that stay can cause
   * this: a server may hold several of them.
   */
  void requireSurvivesAnyServer(ErasureCode code, Map<Integer, PlacementDisk> members)
      throws NotPlannableException {
    Map<String, Set<Integer>> byServer = new TreeMap<>();
    members.forEach(
        (position, disk) ->
            byServer.computeIfAbsent(disk.serverUuid(), s -> new TreeSet<>()).add(position));
    for (Map.Entry<String, Set<Integer>> server : byServer.entrySet()) {
      if (!code.decodes(server.getValue())) {
        throw NotPlannableException.noPlace(
            "the stripe in %s would not survive the loss of server %s, which has its positions %s"
                .formatted(code, server.getKey(), server.getValue()),
            () -> ShortageFinder.crowded(inService()));
      }
    }
  }

  private static boolean isGood(PlacementResult result, boolean strict) {
    return result instanceof Placement placement && (!strict || placement.keepsRules());
  }

  private long seed() {
    synchronized (random) {
      return random.nextLong();
    }
  }
}
