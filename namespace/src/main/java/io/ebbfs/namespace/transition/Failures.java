package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.FailResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.Optional;
import java.util.Random;

/** Takes reports of workers that an attempt failed. Thread-safe. */
public final class Failures {
  private final BlockService blocks;
  private final Lifecycle lifecycle;
  private final Counters counters;
  private final DiskChoice disks;

  public Failures(
      BlockService blocks, ClusterView cluster, Lifecycle lifecycle, Counters counters) {
    this.blocks = blocks;
    // Only asked what there is: it draws no numbers.
    this.disks = new DiskChoice(cluster, new Random(1));
    this.lifecycle = lifecycle;
    this.counters = counters;
  }

  /** A report about an attempt that is over changes nothing but what it says of bad blocks. */
  public FailResponseProto fail(FailRequestProto request) throws IOException {
    for (BadBlockProto bad : request.getBadBlocksList()) {
      blocks.reportBad(
          bad.getBlock().getBlockId(),
          bad.getBlock().getGenerationStamp(),
          bad.getLocation().getStorageUuid(),
          bad.getReason());
    }
    Optional<TransitionRow> row = lifecycle.read(request.getTransitionId());
    if (row.isEmpty()) {
      return FailResponseProto.newBuilder().setState(TransitionStateProto.DROPPED).build();
    }
    Optional<Shortage> shortage =
        request.getFullTargetsCount() == 0
            ? Optional.empty()
            : Optional.of(Shortage.full(request.getFullTargetsList(), disks.inService()));
    boolean held =
        row.get().getState() == TransitionStateProto.RUNNING
            && row.get().getWorker().equals(request.getWorker());
    Optional<TransitionStateProto> after =
        held
            ? lifecycle.retryLater(
                request.getTransitionId(), request.getAttempt(), request.getReason(), shortage)
            : Optional.empty();
    if (after.isPresent() && request.getVerificationFailed()) {
      counters.add("verificationsFailed." + row.get().getKind(), 1);
    }
    return FailResponseProto.newBuilder().setState(after.orElse(row.get().getState())).build();
  }
}
