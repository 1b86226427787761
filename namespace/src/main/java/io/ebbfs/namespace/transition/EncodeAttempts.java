package io.ebbfs.namespace.transition;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.CombinePlan;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.placement.Placement;
import io.ebbfs.namespace.placement.StripeBlock;
import io.ebbfs.namespace.placement.StripeGroup;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.MemberRows;
import io.ebbfs.namespace.transition.AttemptPlan.Output;
import io.ebbfs.namespace.transition.AttemptPlan.Source;
import io.ebbfs.namespace.transition.AttemptPlan.Step;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Plans how blocks of files become stripes: parities are written, data stays where it can. */
final class EncodeAttempts {
  private static final int PLACEMENT_TRIES = 8;

  private final ClusterView cluster;
  private final DiskChoice disks;

  EncodeAttempts(ClusterView cluster, DiskChoice disks) {
    this.cluster = cluster;
    this.disks = disks;
  }

  /** A data block, and where it is. */
  private record Data(TransitionBlockProto block, BlockRow row, List<String> live) {}

  AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    ErasureCode code = Codes.byName(row.getToCode());
    List<SortedMap<Integer, Data>> stripes = present(transaction, row);
    Placement placement = place(code, stripes);
    TransitionRow.Builder updated = row.toBuilder().clearBlocks();
    List<Step> steps = new ArrayList<>();
    for (int s = 0; s < stripes.size(); s++) {
      steps.add(step(code, s, stripes.get(s), placement));
      for (Data data : stripes.get(s).values()) {
        int position = data.block().getPosition();
        updated.addBlocks(
            data.block().toBuilder()
                .setStripeIndex(s)
                .setKeepStorageUuid(placement.disk(s, position).storageUuid())
                .setGenerationStamp(data.row().getGenerationStamp())
                .setLengthBytes(data.row().getLengthBytes()));
      }
    }
    return new AttemptPlan(updated.build(), steps);
  }

  /** A server tells its blocks apart by id: it cannot take a copy of one that it has. */
  private Placement place(ErasureCode code, List<SortedMap<Integer, Data>> stripes)
      throws NotPlannableException {
    for (int tries = 0; tries < PLACEMENT_TRIES; tries++) {
      Placement placement = disks.placeNew(group(code, stripes));
      boolean clash =
          placement.moves().stream()
              .anyMatch(
                  move ->
                      hasReplica(
                          stripes.get(move.stripe()).get(move.position()),
                          placement.disk(move.stripe(), move.position()).serverUuid()));
      if (!clash) {
        return placement;
      }
    }
    throw NotPlannableException.now(
        "a block would have to move between disks of one server: it is placed anew later");
  }

  private boolean hasReplica(Data data, String serverUuid) {
    return data.live().stream()
        .map(cluster::disk)
        .flatMap(Optional::stream)
        .anyMatch(disk -> disk.serverUuid().equals(serverUuid));
  }

  /** The blocks that are still there, by stripe and position; stripes without any are left out. */
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
            MemberRows.liveStorages(transaction, cluster, block.getOwnerId(), known.get());
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

  static boolean isEncodable(BlockRow row, TransitionBlockProto block, long transitionId) {
    return row.getBlockId() == block.getBlockId()
        && row.getState() == BlockStateProto.COMPLETE
        && row.getTransitionId() == transitionId
        && !row.hasStripeId();
  }

  private static StripeGroup group(ErasureCode code, List<SortedMap<Integer, Data>> stripes) {
    List<SortedMap<Integer, StripeBlock>> group = new ArrayList<>();
    for (SortedMap<Integer, Data> stripe : stripes) {
      SortedMap<Integer, StripeBlock> blocks = new TreeMap<>();
      stripe.forEach(
          (position, data) ->
              blocks.put(
                  position,
                  new StripeBlock(
                      data.row().getBlockId(),
                      data.row().getLengthBytes(),
                      data.block().getOwnerId(),
                      data.block().getOwnerIndex(),
                      data.live())));
      group.add(blocks);
    }
    return new StripeGroup(code, group);
  }

  /** One combine reads every data block once and writes all parities, and copies what must move. */
  private static Step step(
      ErasureCode code, int stripe, SortedMap<Integer, Data> present, Placement placement) {
    CombinePlan plan = Planner.encode(code, present.keySet());
    List<Source> sources = new ArrayList<>();
    for (int position : plan.inputPositions()) {
      Data data = present.get(position);
      sources.add(
          new Source(
              data.row().getBlockId(),
              data.row().getGenerationStamp(),
              data.row().getLengthBytes(),
              data.live()));
    }
    List<Output> outputs = new ArrayList<>();
    for (int position : plan.outputPositions()) {
      long length =
          code.lengthBytes(
              position, d -> present.containsKey(d) ? present.get(d).row().getLengthBytes() : 0);
      outputs.add(
          new Output(
              stripe, position, 0, 0, length, placement.disk(stripe, position).storageUuid()));
    }
    byte[] coefficients = plan.coefficients();
    for (int i = 0; i < plan.inputs().size(); i++) {
      int position = plan.inputPositions().get(i);
      if (placement.moves().contains(new BlockRef(stripe, position))) {
        Source source = sources.get(i);
        outputs.add(
            new Output(
                stripe,
                position,
                source.blockId(),
                source.generationStamp(),
                source.lengthBytes(),
                placement.disk(stripe, position).storageUuid()));
        coefficients = Arrays.copyOf(coefficients, coefficients.length + sources.size());
        coefficients[coefficients.length - sources.size() + i] = 1;
      }
    }
    return new Step(sources, outputs, coefficients);
  }
}
