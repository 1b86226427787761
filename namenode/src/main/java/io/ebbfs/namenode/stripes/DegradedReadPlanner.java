package io.ebbfs.namenode.stripes;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.GetReadPlanResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.BlockMissingException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Plans how a server reads a block that it does not hold: from a replica, or, if there is none, by
 * decoding it from other blocks of its stripe (a degraded read). A proxy and the native client ask
 * for such a plan. Takes no locks. Thread-safe.
 */
public final class DegradedReadPlanner {
  private final MetadataStore store;
  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final ProtoConverter converter;
  private final PersistentCounters counters;

  public DegradedReadPlanner(
      MetadataStore store,
      CodeRegistry codes,
      ClusterView cluster,
      ProtoConverter converter,
      PersistentCounters counters) {
    this.store = store;
    this.codes = codes;
    this.cluster = cluster;
    this.converter = converter;
    this.counters = counters;
  }

  /**
   * The cheapest plan. A replica comes first; the stripe is used if every replica is lost, excluded
   * or on a silent server.
   *
   * @throws BlockMissingException if the blocks that are left do not determine the block
   */
  public GetReadPlanResponseProto plan(GetReadPlanRequestProto request) throws IOException {
    GetReadPlanResponseProto plan =
        store.transact(
            request.getBlock().getBlockId(),
            Durability.RELAXED,
            transaction -> plan(transaction, request));
    if (plan.hasCode()) {
      counters.add("degradedReads." + plan.getCode(), 1);
      counters.add("degradedReadSources." + plan.getCode(), plan.getSourcesCount());
    }
    return plan;
  }

  private GetReadPlanResponseProto plan(Transaction transaction, GetReadPlanRequestProto request)
      throws IOException {
    long blockId = request.getBlock().getBlockId();
    BlockOwnerRow owner =
        transaction
            .get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId))
            .filter(BlockOwnerRow::hasOwnerId)
            .orElseThrow(() -> missing(blockId, "no file and no stripe has it (any more)"));
    BlockRow block =
        transaction
            .get(Tables.BLOCK, Tables.block(owner.getOwnerId(), owner.getIndex()))
            .filter(row -> row.getBlockId() == blockId)
            .orElseThrow(() -> missing(blockId, "its row is gone"));
    List<String> replicas =
        usable(
            request,
            blockId,
            BlockRows.liveStorages(transaction, cluster, owner.getOwnerId(), block));
    ReadCostEstimator costs = new ReadCostEstimator(cluster, request.getRequesterUuid());
    boolean allSilent = replicas.stream().allMatch(costs::isSilent);
    if (!replicas.isEmpty() && !(allSilent && block.hasStripeId())) {
      return copy(block, replicas, costs);
    }
    if (!block.hasStripeId()) {
      throw missing(blockId, "no live replica besides those excluded, and it is in no stripe");
    }
    try {
      return decode(transaction, request, block);
    } catch (BlockMissingException e) {
      if (replicas.isEmpty()) {
        throw e;
      }
      return copy(block, replicas, costs);
    }
  }

  private GetReadPlanResponseProto copy(
      BlockRow block, List<String> replicas, ReadCostEstimator costs) {
    List<String> silentLast = new ArrayList<>(replicas);
    silentLast.sort(Comparator.comparing(costs::isSilent));
    return GetReadPlanResponseProto.newBuilder()
        .addSources(
            source(
                block.getBlockId(), block.getGenerationStamp(), block.getLengthBytes(), silentLast))
        .setCoefficients(ByteString.copyFrom(new byte[] {1}))
        .setLengthBytes(block.getLengthBytes())
        .build();
  }

  private GetReadPlanResponseProto decode(
      Transaction transaction, GetReadPlanRequestProto request, BlockRow block) throws IOException {
    long blockId = block.getBlockId();
    StripeRow stripe =
        transaction
            .get(Tables.STRIPE, Tables.stripe(block.getStripeId()))
            .orElseThrow(() -> missing(blockId, "its stripe " + block.getStripeId() + " is gone"));
    return decode(request, block, StripeState.read(transaction, codes, cluster, stripe));
  }

  private GetReadPlanResponseProto decode(
      GetReadPlanRequestProto request, BlockRow block, StripeState stripe)
      throws BlockMissingException {
    Map<Integer, List<String>> usable = usable(request, stripe);
    Set<Integer> unreadable = new TreeSet<>();
    usable.forEach(
        (position, storages) -> {
          if (storages.isEmpty()) {
            unreadable.add(position);
          }
        });
    int wanted = block.getStripePosition();
    unreadable.add(wanted);
    ReadCostEstimator costs = new ReadCostEstimator(cluster, request.getRequesterUuid());
    CombinePlan plan;
    try {
      plan =
          Planner.readPlan(
              stripe.code(),
              stripe.occupied(),
              unreadable,
              wanted,
              position -> costs.of(usable.get(position)));
    } catch (CannotPlanException e) {
      throw missing(
          block.getBlockId(),
          "stripe %d in %s does not decode: positions %s are lost or excluded"
              .formatted(stripe.id(), stripe.code(), unreadable));
    }
    GetReadPlanResponseProto.Builder response =
        GetReadPlanResponseProto.newBuilder()
            .setCoefficients(ByteString.copyFrom(plan.coefficients()))
            .setLengthBytes(block.getLengthBytes())
            .setCode(stripe.row().getCode());
    for (int position : plan.inputPositions()) {
      StripeMemberProto member = stripe.members().get(position);
      response.addSources(
          source(
              member.getBlockId(),
              member.getGenerationStamp(),
              member.getLengthBytes(),
              usable.get(position)));
    }
    return response.build();
  }

  /** By position: the disks that the caller can read the member from. */
  private Map<Integer, List<String>> usable(GetReadPlanRequestProto request, StripeState stripe) {
    Map<Integer, List<String>> usable = new HashMap<>();
    stripe
        .locations()
        .forEach(
            (position, storages) ->
                usable.put(
                    position,
                    usable(request, stripe.members().get(position).getBlockId(), storages)));
    return usable;
  }

  /**
   * The disks that the caller can read a block from. Left out are the blocks and servers that the
   * caller excludes because they failed, and the caller itself for the block that it asks for: it
   * asks because it does not have the block.
   */
  private List<String> usable(
      GetReadPlanRequestProto request, long blockId, List<String> storages) {
    if (request.getExcludedBlockIdsList().contains(blockId)) {
      return List.of();
    }
    boolean asked = blockId == request.getBlock().getBlockId();
    List<String> usable = new ArrayList<>();
    for (String storage : storages) {
      String server = serverOf(storage);
      boolean isRequester = server.equals(request.getRequesterUuid());
      if (!request.getExcludedServerUuidsList().contains(server) && !(asked && isRequester)) {
        usable.add(storage);
      }
    }
    return usable;
  }

  private String serverOf(String storageUuid) {
    return cluster.disk(storageUuid).map(Disk::serverUuid).orElse("");
  }

  private SourceProto source(
      long blockId, long generationStamp, long lengthBytes, List<String> storages) {
    SourceProto.Builder source =
        SourceProto.newBuilder().setBlock(converter.block(blockId, generationStamp, lengthBytes));
    storages.forEach(storage -> converter.location(storage).ifPresent(source::addLocations));
    return source.build();
  }

  private static BlockMissingException missing(long blockId, String why) {
    return new BlockMissingException(
        "block " + blockId, "cannot read block " + blockId + ": " + why, 0);
  }
}
