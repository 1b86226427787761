package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.placement.Packing;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Result;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Plans one attempt that makes stripes of blocks of files: it writes the parities, and keeps one
 * replica of each data block where it is if the placement allows it. The blocks are unencoded
 * (ENCODE) or in stripes that the new stripes replace (REWRITE).
 */
public final class EncodeAttemptPlanner {
  private static final int PLACEMENT_TRIES = 8;

  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final TargetDiskChooser disks;

  public EncodeAttemptPlanner(CodeRegistry codes, ClusterView cluster, TargetDiskChooser disks) {
    this.codes = codes;
    this.cluster = cluster;
    this.disks = disks;
  }

  /** A data block, and the disks in service that hold it. */
  private record Data(TransitionBlockProto block, BlockRow row, List<String> live) {}

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    ErasureCode code = codes.byName(row.getToCode());
    boolean rewrite = row.getKind() == TransitionKindProto.REWRITE;
    TransitionRow.Builder updated = row.toBuilder().clearBlocks();
    List<SortedMap<Integer, Data>> stripes =
        rewrite ? ofStripes(transaction, code, updated) : present(transaction, row);
    if (stripes.isEmpty()) {
      // Only tombstones are left: the commit deletes the old stripes and makes no new ones.
      return new AttemptPlan(updated.build(), List.of(), List.of());
    }
    List<Step> steps = new ArrayList<>();
    List<Result> results = new ArrayList<>();
    int together = row.getSingle() ? 1 : codes.stripesPerGroup(code);
    for (int first = 0; first < stripes.size(); first += together) {
      List<SortedMap<Integer, Data>> group =
          stripes.subList(first, Math.min(stripes.size(), first + together));
      Placed placed = new Placed(place(code, group, row.getSingle()), first);
      for (SortedMap<Integer, Data> stripe : arranged(group, placed.placement())) {
        int s = steps.size();
        steps.add(step(code, s, stripe, placed));
        results.add(result(row, code, s, stripe, placed));
        addBlocks(updated, s, stripe, placed);
      }
    }
    return new AttemptPlan(updated.build(), steps, results);
  }

  /** The disks of one group, whose first stripe has this index. */
  private record Placed(Placement placement, int first) {
    PlacementDisk disk(int stripe, int position) {
      return placement.disk(stripe - first, position);
    }

    boolean moves(int stripe, int position) {
      return placement.moves().contains(new BlockRef(stripe - first, position));
    }
  }

  private static void addBlocks(
      TransitionRow.Builder row, int index, SortedMap<Integer, Data> stripe, Placed placed) {
    stripe.forEach(
        (position, data) ->
            row.addBlocks(
                data.block().toBuilder()
                    .setStripeIndex(index)
                    .setPosition(position)
                    .setKeepStorageUuid(placed.disk(index, position).storageUuid())
                    .setGenerationStamp(data.row().getGenerationStamp())
                    .setLengthBytes(data.row().getLengthBytes())));
  }

  /**
   * Disks for a new group. A placement that copies a block to another disk of the same server is
   * refused: a server can hold only one replica of a block id.
   */
  private Placement place(ErasureCode code, List<SortedMap<Integer, Data>> stripes, boolean single)
      throws NotPlannableException {
    for (int tries = 0; tries < PLACEMENT_TRIES; tries++) {
      Placement placement = disks.placeNew(group(code, stripes, single));
      boolean clash =
          placement.moves().stream()
              .anyMatch(
                  move ->
                      hasReplica(
                          arranged(stripes, placement).get(move.stripe()).get(move.position()),
                          placement.disk(move.stripe(), move.position()).serverUuid()));
      if (!clash) {
        return placement;
      }
    }
    throw NotPlannableException.now(
        "a block would have to move between disks of one server: it is placed anew later");
  }

  /** The blocks at the positions of the placement, which swaps blocks of similar length. */
  private static List<SortedMap<Integer, Data>> arranged(
      List<SortedMap<Integer, Data>> stripes, Placement placement) {
    Map<Long, Data> byBlock = new HashMap<>();
    stripes.forEach(
        stripe -> stripe.values().forEach(data -> byBlock.put(data.row().getBlockId(), data)));
    List<SortedMap<Integer, Data>> arranged = new ArrayList<>();
    for (SortedMap<Integer, StripeBlock> stripe : placement.stripes()) {
      SortedMap<Integer, Data> blocks = new TreeMap<>();
      stripe.forEach((position, block) -> blocks.put(position, byBlock.get(block.blockId())));
      arranged.add(blocks);
    }
    return arranged;
  }

  private boolean hasReplica(Data data, String serverUuid) {
    return data.live().stream()
        .map(cluster::disk)
        .flatMap(Optional::stream)
        .anyMatch(disk -> disk.serverUuid().equals(serverUuid));
  }

  /** The blocks that still exist, by stripe and position. A stripe without a block is left out. */
  private List<SortedMap<Integer, Data>> present(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    SortedMap<Integer, SortedMap<Integer, Data>> stripes = new TreeMap<>();
    for (TransitionBlockProto block : row.getBlocksList()) {
      Optional<BlockRow> known =
          transaction
              .get(Tables.BLOCK, Tables.block(block.getOwnerId(), block.getOwnerIndex()))
              .filter(b -> isEncodable(b, block, row.getId()));
      if (known.isPresent()) {
        List<String> live =
            BlockRows.liveStorages(transaction, cluster, block.getOwnerId(), known.get());
        if (live.isEmpty()) {
          throw NotPlannableException.now(
              "block %d of file %d has no live replica to read"
                  .formatted(block.getBlockId(), block.getOwnerId()));
        }
        stripes
            .computeIfAbsent(block.getStripeIndex(), ignored -> new TreeMap<>())
            .put(block.getPosition(), new Data(block, known.get(), live));
      }
    }
    if (stripes.isEmpty()) {
      throw NotPlannableException.ever("all of its blocks were deleted");
    }
    return List.copyOf(stripes.values());
  }

  /** Whether a block is complete, unencoded, and has the mark of this transition. */
  public static boolean isEncodable(BlockRow row, TransitionBlockProto block, long transitionId) {
    return row.getBlockId() == block.getBlockId()
        && row.getState() == BlockStateProto.COMPLETE
        && row.getTransitionId() == transitionId
        && !row.hasStripeId()
        && !row.hasInternalOwnerId();
  }

  /**
   * The live blocks of the stripes to be rewritten, packed into new stripes. The row gets the
   * stripes that still exist.
   */
  private List<SortedMap<Integer, Data>> ofStripes(
      Transaction transaction, ErasureCode code, TransitionRow.Builder row)
      throws IOException, NotPlannableException {
    Map<Long, Data> live = new LinkedHashMap<>();
    List<TransitionStripeProto> left = new ArrayList<>();
    for (TransitionStripeProto planned : row.getStripesList()) {
      Optional<StripeRow> stripe =
          transaction
              .get(Tables.STRIPE, Tables.stripe(planned.getStripeId()))
              .filter(s -> s.getTransitionId() == row.getId());
      if (stripe.isPresent()) {
        left.add(planned.toBuilder().setGeneration(stripe.get().getGeneration()).build());
        addLive(transaction, StripeState.read(transaction, codes, cluster, stripe.get()), live);
      }
    }
    if (left.isEmpty()) {
      throw NotPlannableException.ever("its stripes are gone");
    }
    row.clearStripes().addAllStripes(left);
    List<StripeBlock> blocks = new ArrayList<>();
    live.values().forEach(data -> blocks.add(stripeBlock(data)));
    List<SortedMap<Integer, Data>> stripes = new ArrayList<>();
    for (StripeGroup group :
        Packing.pack(code, mergesInto(code, row.getSingle()), blocks, Double.MAX_VALUE).groups()) {
      for (SortedMap<Integer, StripeBlock> stripe : group.stripes()) {
        SortedMap<Integer, Data> packed = new TreeMap<>();
        stripe.forEach((position, block) -> packed.put(position, live.get(block.blockId())));
        stripes.add(packed);
      }
    }
    return stripes;
  }

  private static void addLive(Transaction transaction, StripeState stripe, Map<Long, Data> live)
      throws IOException, NotPlannableException {
    if (!stripe.hasAllLiveData()) {
      throw NotPlannableException.ever(
          "stripe %d has lost positions %s: they are repaired first"
              .formatted(stripe.id(), stripe.lost()));
    }
    for (StripeMemberProto member : stripe.members().values()) {
      if (StripeState.isLiveData(stripe.code(), member)) {
        BlockRow block =
            transaction
                .get(Tables.BLOCK, Tables.block(member.getOwnerId(), member.getOwnerIndex()))
                .orElseThrow(
                    () ->
                        new IOException(
                            "block %d of stripe %d has no row: run the metadata check"
                                .formatted(member.getBlockId(), stripe.id())));
        TransitionBlockProto planned =
            TransitionBlockProto.newBuilder()
                .setStripeIndex(0)
                .setPosition(0)
                .setOwnerId(member.getOwnerId())
                .setOwnerIndex(member.getOwnerIndex())
                .setBlockId(member.getBlockId())
                .build();
        live.put(
            member.getBlockId(),
            new Data(planned, block, stripe.locations().get(member.getPosition())));
      }
    }
  }

  private StripeGroup group(
      ErasureCode code, List<SortedMap<Integer, Data>> stripes, boolean single) {
    List<SortedMap<Integer, StripeBlock>> group = new ArrayList<>();
    for (SortedMap<Integer, Data> stripe : stripes) {
      SortedMap<Integer, StripeBlock> blocks = new TreeMap<>();
      stripe.forEach((position, data) -> blocks.put(position, stripeBlock(data)));
      group.add(blocks);
    }
    return new StripeGroup(code, group, mergesInto(code, single));
  }

  private Optional<ErasureCode> mergesInto(ErasureCode code, boolean single) {
    return single ? Optional.empty() : codes.mergesInto(code);
  }

  private static StripeBlock stripeBlock(Data data) {
    return new StripeBlock(
        data.row().getBlockId(),
        data.row().getLengthBytes(),
        data.block().getOwnerId(),
        data.block().getOwnerIndex(),
        data.live());
  }

  private static Result result(
      TransitionRow row,
      ErasureCode code,
      int stripe,
      SortedMap<Integer, Data> present,
      Placed placed) {
    // The replica that stays is the one to verify: the commit deletes the other replicas.
    SortedMap<Integer, Source> stored = new TreeMap<>();
    present.forEach(
        (position, data) -> {
          boolean moves = placed.moves(stripe, position);
          String kept = placed.disk(stripe, position).storageUuid();
          stored.put(position, source(data, moves ? data.live() : List.of(kept)));
        });
    String name = "new stripe %d in %s of transition %d".formatted(stripe, code, row.getId());
    return new Result(stripe, name, code, stored, Set.of(), present.keySet());
  }

  private static Source source(Data data, List<String> disks) {
    return new Source(
        data.row().getBlockId(),
        data.row().getGenerationStamp(),
        data.row().getLengthBytes(),
        disks);
  }

  /**
   * One combine: it reads each data block once, writes all parities, and copies blocks that move.
   */
  private static Step step(
      ErasureCode code, int stripe, SortedMap<Integer, Data> present, Placed placed) {
    CombinePlan plan = Planner.encode(code, present.keySet());
    List<Source> sources = new ArrayList<>();
    for (int position : plan.inputPositions()) {
      Data data = present.get(position);
      sources.add(source(data, data.live()));
    }
    List<Output> outputs = new ArrayList<>();
    for (int position : plan.outputPositions()) {
      long length =
          code.lengthBytes(
              position, d -> present.containsKey(d) ? present.get(d).row().getLengthBytes() : 0);
      outputs.add(
          new Output(stripe, position, 0, 0, length, placed.disk(stripe, position).storageUuid()));
    }
    List<BlockRef> places =
        plan.inputPositions().stream().map(position -> new BlockRef(stripe, position)).toList();
    return withCopies(new Step(code, places, sources, outputs, plan.coefficients()), placed);
  }

  /** The step that also copies the data blocks that move: each copy is 1 times its source. */
  private static Step withCopies(Step step, Placed placed) {
    List<Output> outputs = new ArrayList<>(step.outputs());
    byte[] coefficients = step.coefficients();
    int sources = step.sources().size();
    for (int i = 0; i < sources; i++) {
      BlockRef place = step.places().get(i);
      if (placed.moves(place.stripe(), place.position())) {
        Source source = step.sources().get(i);
        outputs.add(
            new Output(
                place.stripe(),
                place.position(),
                source.blockId(),
                source.generationStamp(),
                source.lengthBytes(),
                placed.disk(place.stripe(), place.position()).storageUuid()));
        coefficients = Arrays.copyOf(coefficients, coefficients.length + sources);
        coefficients[coefficients.length - sources + i] = 1;
      }
    }
    return new Step(step.code(), step.places(), step.sources(), outputs, coefficients);
  }
}
