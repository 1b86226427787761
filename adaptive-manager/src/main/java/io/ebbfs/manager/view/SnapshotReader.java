package io.ebbfs.manager.view;

import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads from the namenode everything that a decision depends on. */
public final class SnapshotReader {
  private static final int MOST_FAILED = 10_000;

  private SnapshotReader() {}

  /**
   * Reads transitions before files and stripes. A transition that ends in between is then counted
   * twice in one evaluation, which cannot exceed the bound. In the other order it would not be
   * counted at all.
   */
  public static ClusterSnapshot read(
      NamenodeGateway namenode,
      long nowMillis,
      PolicySet policies,
      ClusterSnapshot.Limits limits,
      Map<Long, Double> heat,
      Experience experience) {
    List<TransitionView> transitions = new ArrayList<>();
    namenode
        .allTransitions(
            List.of(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING), Integer.MAX_VALUE)
        .forEach(row -> transitions.add(ViewReader.transition(row)));
    namenode
        .allTransitions(TransitionView.UNDONE, MOST_FAILED)
        .forEach(row -> transitions.add(ViewReader.transition(row)));
    List<FileView> files = new ArrayList<>();
    namenode.eachFile(page -> page.getFilesList().forEach(f -> files.add(ViewReader.file(f))));
    Map<Long, StripeView> stripes = new HashMap<>();
    namenode.eachStripe(
        page ->
            page.getStripesList()
                .forEach(s -> stripes.put(s.getStripe().getId(), ViewReader.stripe(s))));
    GetClusterResponseProto cluster = namenode.cluster();
    return new ClusterSnapshot(
        nowMillis,
        policies,
        limits,
        ViewReader.cluster(cluster),
        files,
        stripes,
        heat,
        ViewReader.repairedBlocks(cluster),
        experience,
        transitions);
  }
}
