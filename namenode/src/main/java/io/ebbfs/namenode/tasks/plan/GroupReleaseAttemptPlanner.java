package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Gather;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Source;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.namenode.tasks.plan.GroupFile.Piece;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans one attempt that makes replicated blocks of the block groups of a file. Each new block is
 * gathered from the cells of the data blocks of its group onto one disk, and copied from there. No
 * block of a group changes, so readers and repairs go on, and the commit replaces all of them at
 * once.
 */
public final class GroupReleaseAttemptPlanner {
  private static final Logger LOG = LoggerFactory.getLogger(GroupReleaseAttemptPlanner.class);

  private final CodeRegistry codes;
  private final ClusterView cluster;
  private final BlockService blocks;
  private final TargetDiskChooser disks;
  private final IdGenerators ids;

  public GroupReleaseAttemptPlanner(
      CodeRegistry codes,
      ClusterView cluster,
      BlockService blocks,
      TargetDiskChooser disks,
      IdGenerators ids) {
    this.codes = codes;
    this.cluster = cluster;
    this.blocks = blocks;
    this.disks = disks;
    this.ids = ids;
  }

  public AttemptPlan plan(Transaction transaction, TransitionRow row)
      throws IOException, NotPlannableException {
    GroupFile file = GroupFile.readWhole(transaction, row.getGroupFileId());
    if (!file.isAsIn(row)) {
      throw NotPlannableException.ever(
          "the block groups of file %d are not those of the proposal any more: order the conversion again"
              .formatted(file.id()));
    }
    List<StripeState> stripes = new ArrayList<>();
    for (int g = 0; g < file.groups().size(); g++) {
      StripeState stripe = StripeState.read(transaction, codes, cluster, file.stripes().get(g));
      SubtractAttemptPlanner.requireWhole(stripe);
      stripes.add(stripe);
    }
    List<Step> gathers = new ArrayList<>();
    List<Step> copies = new ArrayList<>();
    for (Piece piece : file.pieces()) {
      StripeState stripe = stripes.get(piece.group());
      List<String> targets = targets(file, piece, row.getGroupReplication());
      Output first =
          new Output(
              piece.group(),
              piece.index(),
              ids.blocks().next(),
              ids.generationStamps().next(),
              piece.lengthBytes(),
              targets.get(0));
      gathers.add(gather(file.layout(piece.group()), stripe, piece, first));
      for (String target : targets.subList(1, targets.size())) {
        copies.add(copy(stripe.code(), first, target));
      }
    }
    List<Step> steps = new ArrayList<>(gathers);
    steps.addAll(copies);
    return new AttemptPlan(row, steps, List.of());
  }

  private static Step gather(
      BlockGroupLayout layout, StripeState stripe, Piece piece, Output output) {
    List<BlockRef> places = new ArrayList<>();
    List<Source> sources = new ArrayList<>();
    long end = piece.startBytes() + piece.lengthBytes();
    for (int unit = 0; unit < layout.dataUnits(); unit++) {
      if (layout.internalLengthBytes(end, unit)
          > layout.internalLengthBytes(piece.startBytes(), unit)) {
        places.add(new BlockRef(piece.group(), unit));
        sources.add(ConversionAttemptPlanner.source(stripe, unit));
      }
    }
    byte[] ones = new byte[sources.size()];
    Arrays.fill(ones, (byte) 1);
    Gather gather =
        new Gather(layout.policy().getCellSize(), layout.dataUnits(), piece.startBytes());
    return new Step(stripe.code(), places, sources, List.of(output), ones, Optional.of(gather));
  }

  /** The same block on another disk. */
  private static Step copy(ErasureCode code, Output first, String storageUuid) {
    return new Step(
        code,
        List.of(new BlockRef(first.stripeIndex(), first.position())),
        List.of(
            new Source(
                first.blockId(),
                first.generationStamp(),
                first.lengthBytes(),
                List.of(first.storageUuid()))),
        List.of(
            new Output(
                first.stripeIndex(),
                first.position(),
                first.blockId(),
                first.generationStamp(),
                first.lengthBytes(),
                storageUuid)),
        new byte[] {1});
  }

  /** Disks on different servers for the replicas of a new block. */
  private List<String> targets(GroupFile file, Piece piece, int replication)
      throws NotPlannableException {
    List<Target> chosen = List.of();
    try {
      chosen =
          blocks.chooseTargets(
              new WriteRequest(
                  "file " + file.id(), replication, piece.lengthBytes(), "", Set.of(), Set.of()));
    } catch (IOException e) {
      LOG.debug("No disk for a block of file {}", file.id(), e);
    }
    if (chosen.size() < LeavingBlocks.FEWEST_REPLICAS) {
      throw NotPlannableException.noPlace(
          "a block of %d bytes of file %d finds room on %d servers, and it needs %d without its group: add chunk servers or free space"
              .formatted(
                  piece.lengthBytes(), file.id(), chosen.size(), LeavingBlocks.FEWEST_REPLICAS),
          () ->
              ShortageFinder.find(
                  piece.lengthBytes(),
                  disks.inService(),
                  tried -> roomy(tried, piece.lengthBytes()) >= LeavingBlocks.FEWEST_REPLICAS,
                  ""));
    }
    return chosen.stream().map(target -> target.disk().storageUuid()).toList();
  }

  private static long roomy(List<PlacementDisk> disks, long lengthBytes) {
    return disks.stream()
        .filter(disk -> disk.freeBytes() >= lengthBytes)
        .map(PlacementDisk::serverUuid)
        .distinct()
        .count();
  }
}
