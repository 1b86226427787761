package io.ebbfs.namespace.coding;

import io.ebbfs.coding.CannotPlanException;
import io.ebbfs.coding.CombinePlan;
import io.ebbfs.coding.Planner;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.MemberRows;
import io.ebbfs.namespace.stripe.SourceCosts;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.stripe.Wire;
import io.ebbfs.namespace.transition.Counters;
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

/** How a block can be read by a server that does not hold it. Takes no locks. Thread-safe. */
public final class ReadPlans {
  private final MetadataStore store;
  private final ClusterView cluster;
  private final Wire wire;
  private final Counters counters;

  public ReadPlans(MetadataStore store, ClusterView cluster, Wire wire, Counters counters) {
    this.store = store;
    this.cluster = cluster;
    this.wire = wire;
    this.counters = counters;
  }

  /**
   * The cheapest way to the bytes of a block: a replica, else blocks of its stripe.
   *
   * @throws BlockMissingException if nothing that is left determines the block
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
            MemberRows.liveStorages(transaction, cluster, owner.getOwnerId(), block));
    SourceCosts costs = new SourceCosts(cluster, request.getRequesterUuid());
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

  private GetReadPlanResponseProto copy(BlockRow block, List<String> replicas, SourceCosts costs) {
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
    return decode(request, block, StripeState.read(transaction, cluster, stripe));
  }

  private GetReadPlanResponseProto decode(
      GetReadPlanRequestProto request, BlockRow block, StripeState stripe)
      throws BlockMissingException {
    Map<Integer, List<String>> usable = new HashMap<>();
    Set<Integer> unreadable = new TreeSet<>();
    stripe
        .locations()
        .forEach(
            (position, storages) -> {
              List<String> left =
                  usable(request, stripe.members().get(position).getBlockId(), storages);
              usable.put(position, left);
              if (left.isEmpty()) {
                unreadable.add(position);
              }
            });
    int wanted = block.getStripePosition();
    unreadable.add(wanted);
    SourceCosts costs = new SourceCosts(cluster, request.getRequesterUuid());
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

  /** Without what failed the caller, and without what the caller does not have. */
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
        SourceProto.newBuilder().setBlock(wire.block(blockId, generationStamp, lengthBytes));
    storages.forEach(storage -> wire.location(storage).ifPresent(source::addLocations));
    return source.build();
  }

  private static BlockMissingException missing(long blockId, String why) {
    return new BlockMissingException(
        "block " + blockId, "cannot read block " + blockId + ": " + why, 0);
  }
}
