package io.ebbfs.namespace.transition;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.namespace.placement.Disk;
import io.ebbfs.namespace.placement.Mending;
import io.ebbfs.namespace.placement.Placement;
import io.ebbfs.namespace.placement.PlacementResult;
import io.ebbfs.namespace.placement.Refusal;
import io.ebbfs.namespace.placement.StripeGroup;
import io.ebbfs.namespace.placement.StripePlacement;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/** Asks the pure placement with the cluster as it is now. */
final class DiskChoice {
  /** As many transfers make a server as busy as it should get. */
  private static final double BUSY_TRANSFERS = 16;

  private final ClusterView cluster;
  private final RandomGenerator random;

  DiskChoice(ClusterView cluster, RandomGenerator random) {
    this.cluster = cluster;
    this.random = random;
  }

  Placement placeNew(StripeGroup group) throws NotPlannableException {
    long seed = seed();
    Ask ask = disks -> StripePlacement.place(group, disks, seed);
    return placed(ask, group.unitLengthBytes(), inService(), false);
  }

  /** A placement with these disks. */
  private interface Ask {
    PlacementResult with(List<Disk> disks);
  }

  /**
   * Servers left out take no new block.
   *
   * @param strict whether a placement that breaks a rule is none: unlike a lost block, a conversion
   *     can wait for better times
   */
  Placement placeMissing(
      ErasureCode code,
      List<? extends Map<Integer, Disk>> members,
      List<? extends Collection<Integer>> missing,
      long lengthBytes,
      Set<String> excludedServerUuids,
      boolean strict)
      throws NotPlannableException {
    long seed = seed();
    Ask ask =
        disks -> StripePlacement.placeMissing(code, members, missing, lengthBytes, disks, seed);
    return placed(ask, lengthBytes, inService(excludedServerUuids), strict);
  }

  /** The disk as placement sees it. */
  Disk disk(String storageUuid) throws NotPlannableException {
    ClusterView.Disk disk =
        cluster
            .disk(storageUuid)
            .orElseThrow(() -> NotPlannableException.now("disk " + storageUuid + " is not known"));
    Server server =
        cluster
            .server(disk.serverUuid())
            .orElseThrow(
                () -> NotPlannableException.now("server " + disk.serverUuid() + " is not known"));
    return disk(server, disk);
  }

  private static Disk disk(Server server, ClusterView.Disk disk) {
    return new Disk(
        disk.storageUuid(),
        server.uuid(),
        server.rack() == null ? "" : server.rack(),
        disk.capacityBytes(),
        disk.remainingBytes(),
        server.activeTransfers() / BUSY_TRANSFERS);
  }

  /** How a stripe is placed, and what would be better. */
  Mending.Found lookAt(Siblings stripe) throws NotPlannableException {
    return mending(stripe, inService(), new Random(seed())).look();
  }

  /** How many rules the placement of a stripe breaks. */
  int violations(Siblings stripe) throws NotPlannableException {
    return mending(stripe, inService(), new Random(0)).violations();
  }

  private Mending mending(Siblings siblings, List<Disk> disks, Random random)
      throws NotPlannableException {
    StripeState stripe = siblings.stripe();
    return new Mending(
        stripe.code(), placeOf(siblings), siblings.slot(), longest(stripe), disks, random);
  }

  /** By slot, the disks of the blocks of the stripe and of those that it will merge with. */
  List<Map<Integer, Disk>> placeOf(Siblings siblings) throws NotPlannableException {
    List<Map<Integer, Disk>> members = new ArrayList<>();
    for (int slot = 0; slot < siblings.slots(); slot++) {
      StripeState other = siblings.others().get(slot);
      if (slot == siblings.slot()) {
        members.add(placeOf(siblings.stripe()));
      } else {
        members.add(other == null ? new TreeMap<>() : placeOf(other));
      }
    }
    return members;
  }

  private Map<Integer, Disk> placeOf(StripeState stripe) throws NotPlannableException {
    Map<Integer, Disk> members = new TreeMap<>();
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

  List<Disk> inService() {
    return inService(Set.of());
  }

  private List<Disk> inService(Set<String> excludedServerUuids) {
    List<Disk> disks = new ArrayList<>();
    for (Server server : cluster.liveServers()) {
      if (!excludedServerUuids.contains(server.uuid())) {
        server.disks().stream().filter(d -> !d.failed()).forEach(d -> disks.add(disk(server, d)));
      }
    }
    return disks;
  }

  private static Placement placed(Ask ask, long lengthBytes, List<Disk> disks, boolean strict)
      throws NotPlannableException {
    PlacementResult result = ask.with(disks);
    if (isGood(result, strict)) {
      return (Placement) result;
    }
    String reason =
        result instanceof Refusal refusal
            ? refusal.reason()
            : "the servers in service give no good place: "
                + String.join("; ", ((Placement) result).compromises());
    throw NotPlannableException.noPlace(
        reason, () -> Shortage.of(lengthBytes, disks, more -> isGood(ask.with(more), strict)));
  }

  /** What stays where it is, is too much together: more servers help once members have moved. */
  NotPlannableException crowded(String reason) {
    return NotPlannableException.noPlace(reason, () -> Shortage.crowded(inService()));
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
