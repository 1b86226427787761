package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.tasks.lifecycle.PlacementShortage;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.ShortageFinder;
import io.ebbfs.namenode.tasks.plan.TargetDiskChooser;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.FailResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.Optional;
import java.util.Random;

/**
 * Takes the reports of workers that an attempt failed, marks the bad replicas that they found, and
 * has the transition planned again. Thread-safe.
 */
public final class FailureService {
  private final BlockService blocks;
  private final TransitionLifecycle lifecycle;
  private final PersistentCounters counters;
  private final TargetDiskChooser disks;

  public FailureService(
      CodeRegistry codes,
      BlockService blocks,
      ClusterView cluster,
      TransitionLifecycle lifecycle,
      PersistentCounters counters) {
    this.blocks = blocks;
    // It is only asked for the disks in service, and draws no random numbers.
    this.disks = new TargetDiskChooser(codes, cluster, new Random(1));
    this.lifecycle = lifecycle;
    this.counters = counters;
  }

  /** Takes a report. If the attempt is over already, only the bad replicas are marked. */
  public FailResponseProto fail(FailRequestProto request) throws IOException {
    for (BadBlockProto bad : request.getBadBlocksList()) {
      blocks.report(bad);
    }
    Optional<TransitionRow> row = lifecycle.read(request.getTransitionId());
    if (row.isEmpty()) {
      return FailResponseProto.newBuilder().setState(TransitionStateProto.DROPPED).build();
    }
    Optional<PlacementShortage> shortage =
        request.getFullTargetsCount() == 0
            ? Optional.empty()
            : Optional.of(ShortageFinder.full(request.getFullTargetsList(), disks.inService()));
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
