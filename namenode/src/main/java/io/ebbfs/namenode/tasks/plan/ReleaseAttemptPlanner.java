package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.namenode.tasks.plan.LeavingBlocks.Leaving;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans one attempt that takes blocks out of a stripe. Each block is copied, with its id and
 * generation stamp, to as many servers as its file wants replicas. A server that is drained may be
 * read from, but its replica does not count. The parities are computed without the blocks, as a
 * subtraction does, unless all live blocks leave. One commit publishes the copies and the parities,
 * so that a block has its parities or its replicas at any moment.
 */
public final class ReleaseAttemptPlanner {
  private static final Logger LOG = LoggerFactory.getLogger(ReleaseAttemptPlanner.class);

  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final BlockService blocks;
  private final TargetDiskChooser disks;
  private final SubtractAttemptPlanner subtractions;

  public ReleaseAttemptPlanner(
      CodeRegistry codes,
      ClusterView cluster,
      BlockService blocks,
      TargetDiskChooser disks,
      SubtractAttemptPlanner subtractions) {
    this.codes = codes;
    this.cluster = cluster;
    this.blocks = blocks;
    this.disks = disks;
    this.subtractions = subtractions;
  }

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    StripeState stripe = StripeAttemptRows.stripe(transaction, codes, cluster, row);
    SubtractAttemptPlanner.requireWhole(stripe);
    SortedMap<Integer, Leaving> leaving = LeavingBlocks.find(transaction, row, stripe);
    if (leaving.isEmpty()) {
      throw NotPlannableException.ever("the blocks that were to leave the stripe are deleted");
    }
    List<Step> steps = new ArrayList<>();
    List<Result> results = new ArrayList<>();
    Set<BlockRef> dead = Set.of();
    if (!LeavingBlocks.endStripe(leaving.keySet(), stripe)) {
      SubtractAttemptPlanner.Subtraction subtraction =
          subtractions.subtract(
              transaction,
              stripe,
              ConversionMapper.subtraction(codes, stripe.row(), leaving.keySet()));
      steps.addAll(subtraction.steps());
      results.add(subtraction.result());
      dead = subtraction.dead();
    }
    SortedMap<Integer, List<String>> targets = targets(transaction, stripe, leaving);
    int rounds = targets.values().stream().mapToInt(List::size).max().orElse(0);
    for (int round = 0; round < rounds; round++) {
      addCopies(stripe, round, targets, steps, results);
    }
    return new AttemptPlan(
        StripeAttemptRows.planned(row, stripe, leaving.keySet()), steps, results, dead);
  }

  /**
   * Adds one copy of each block that needs so many. Copies of one block are in different rounds:
   * the checks know a written block by its result and position.
   */
  private static void addCopies(
      StripeState stripe,
      int round,
      SortedMap<Integer, List<String>> targets,
      List<Step> steps,
      List<Result> results) {
    int index = round + 1;
    SortedMap<Integer, Source> stored = new TreeMap<>();
    for (Map.Entry<Integer, List<String>> target : targets.entrySet()) {
      if (target.getValue().size() > round) {
        int position = target.getKey();
        stored.put(position, ConversionAttemptPlanner.source(stripe, position));
        steps.add(copy(stripe, index, position, target.getValue().get(round)));
      }
    }
    results.add(
        new Result(
            index,
            "stripe %d, replica %d".formatted(stripe.id(), index + 1),
            stripe.code(),
            stored,
            Set.of(),
            Set.of()));
  }

  private static Step copy(StripeState stripe, int index, int position, String storageUuid) {
    StripeMemberProto member = stripe.members().get(position);
    Output output =
        new Output(
            index,
            position,
            member.getBlockId(),
            member.getGenerationStamp(),
            member.getLengthBytes(),
            storageUuid);
    return new Step(
        stripe.code(),
        List.of(new BlockRef(0, position)),
        List.of(ConversionAttemptPlanner.source(stripe, position)),
        List.of(output),
        new byte[] {1});
  }

  /** By position: the disks to which a block is copied. */
  private SortedMap<Integer, List<String>> targets(
      Transaction transaction, StripeState stripe, SortedMap<Integer, Leaving> leaving)
      throws IOException, NotPlannableException {
    SortedMap<Integer, List<String>> targets = new TreeMap<>();
    for (Map.Entry<Integer, Leaving> block : leaving.entrySet()) {
      targets.put(block.getKey(), targets(transaction, stripe, block.getValue()));
    }
    return targets;
  }

  private List<String> targets(Transaction transaction, StripeState stripe, Leaving block)
      throws IOException, NotPlannableException {
    StripeMemberProto member = block.member();
    Optional<String> objection = LeavingBlocks.objection(block.file().value());
    if (objection.isPresent()) {
      throw NotPlannableException.ever(objection.get());
    }
    List<String> live = stripe.locations().get(member.getPosition());
    int present = cluster.serversOf(live.stream().filter(cluster::isStaying).toList()).size();
    int missing = block.replication() - present;
    if (missing <= 0) {
      return List.of();
    }
    List<Target> chosen = choose(member, missing, live, marked(transaction, member));
    // A server can hold only one replica of a block id, right or wrong.
    Set<String> holders =
        cluster.serversOf(
            BlockRows.allStorages(transaction, member.getOwnerId(), member.getBlockId()));
    if (chosen.size() < missing) {
      chosen = choose(member, missing, live, holders);
    }
    if (present + chosen.size() < block.fewestReplicas()) {
      int needed = block.fewestReplicas() - present;
      throw NotPlannableException.noPlace(
          "block %d finds room on %d servers, and it needs %d before it leaves its stripe: add chunk servers or free space"
              .formatted(member.getBlockId(), present + chosen.size(), block.fewestReplicas()),
          () ->
              ShortageFinder.find(
                  member.getLengthBytes(),
                  disks.inService(),
                  tried -> roomy(tried, member.getLengthBytes(), holders) >= needed,
                  ""));
    }
    return chosen.stream().map(target -> target.disk().storageUuid()).toList();
  }

  /** The servers but these that have a disk with so much free space. */
  private static long roomy(List<PlacementDisk> disks, long lengthBytes, Set<String> taken) {
    return disks.stream()
        .filter(disk -> disk.freeBytes() >= lengthBytes)
        .map(PlacementDisk::serverUuid)
        .filter(server -> !taken.contains(server))
        .distinct()
        .count();
  }

  /**
   * The servers that hold the block, or that an earlier attempt may have written it to. An order to
   * delete such a copy may still be on its way, and would delete the next copy with the same id.
   */
  private Set<String> marked(Transaction transaction, StripeMemberProto member) throws IOException {
    return cluster.serversOf(
        BlockRows.replicas(transaction, member.getOwnerId(), member.getBlockId()).stream()
            .map(row -> Tables.replicaStorage(row.key()))
            .toList());
  }

  /** As many disks as there are, but not on these servers. */
  private List<Target> choose(
      StripeMemberProto member, int missing, List<String> live, Set<String> taken) {
    try {
      return blocks.chooseTargets(
          new WriteRequest(
              "block " + member.getBlockId(),
              missing,
              member.getLengthBytes(),
              "",
              taken,
              new HashSet<>(live)));
    } catch (IOException e) {
      LOG.debug("No disk for a copy of block {}", member.getBlockId(), e);
      return List.of();
    }
  }
}
