package io.ebbfs.manager.cluster;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.policy.FileView;
import io.ebbfs.manager.policy.Snapshot;
import io.ebbfs.manager.policy.StripeView;
import io.ebbfs.manager.policy.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads all that a decision depends on from the namenode. */
public final class SnapshotReader {
  private static final int MOST_FAILED = 10_000;

  private SnapshotReader() {}

  /**
   * Transitions are read before files and stripes: what ends in between is then counted twice for
   * one round, which errs on the side of the bound; the other order would lose it.
   */
  public static Snapshot read(
      Namenode namenode,
      long nowMillis,
      PolicySet policies,
      Snapshot.Limits limits,
      Map<Long, Double> heat) {
    List<TransitionView> transitions = new ArrayList<>();
    namenode
        .allTransitions(
            List.of(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING), Integer.MAX_VALUE)
        .forEach(row -> transitions.add(Views.transition(row)));
    namenode
        .allTransitions(TransitionView.UNDONE, MOST_FAILED)
        .forEach(row -> transitions.add(Views.transition(row)));
    List<FileView> files = new ArrayList<>();
    namenode.eachFile(page -> page.getFilesList().forEach(f -> files.add(Views.file(f))));
    Map<Long, StripeView> stripes = new HashMap<>();
    namenode.eachStripe(
        page ->
            page.getStripesList()
                .forEach(s -> stripes.put(s.getStripe().getId(), Views.stripe(s))));
    return new Snapshot(
        nowMillis,
        policies,
        limits,
        Views.cluster(namenode.cluster()),
        files,
        stripes,
        heat,
        transitions);
  }
}
