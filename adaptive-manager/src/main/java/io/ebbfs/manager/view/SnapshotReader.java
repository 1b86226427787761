package io.ebbfs.manager.view;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads from the namenode what a decision depends on. */
public final class SnapshotReader {
  private static final int MOST_FAILED = 10_000;

  private SnapshotReader() {}

  /**
   * A snapshot of all files and stripes, without a view: for small clusters. Transitions are read
   * before files and stripes. A transition that ends in between is then counted twice in one
   * evaluation, which cannot exceed the bound. In the other order it would not be counted at all.
   */
  public static ClusterSnapshot readAll(
      NamenodeGateway namenode,
      CodeRegistry codes,
      long nowMillis,
      PolicySet policies,
      ClusterSnapshot.Limits limits,
      Map<Long, Double> heat,
      Experience experience) {
    List<TransitionView> transitions = transitions(namenode);
    List<FileView> files = new ArrayList<>();
    namenode.eachFile(page -> page.getFilesList().forEach(f -> files.add(ViewReader.file(f))));
    Map<Long, StripeView> stripes = new HashMap<>();
    namenode.eachStripe(
        page ->
            page.getStripesList()
                .forEach(s -> stripes.put(s.getStripe().getId(), ViewReader.stripe(s))));
    return surroundings(namenode.cluster(), transitions, nowMillis, limits, heat, experience)
        .with(policies, files, stripes, PolicySums.of(codes, policies, files, stripes));
  }

  /** The transitions that are planned, running or failed. */
  public static List<TransitionView> transitions(NamenodeGateway namenode) {
    List<TransitionView> transitions = new ArrayList<>();
    namenode
        .allTransitions(
            List.of(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING), Integer.MAX_VALUE)
        .forEach(row -> transitions.add(ViewReader.transition(row)));
    namenode
        .allTransitions(TransitionView.UNDONE, MOST_FAILED)
        .forEach(row -> transitions.add(ViewReader.transition(row)));
    return transitions;
  }

  /** What a snapshot has beside files and stripes. */
  public static WorkingSet.Surroundings surroundings(
      GetClusterResponseProto cluster,
      List<TransitionView> transitions,
      long nowMillis,
      ClusterSnapshot.Limits limits,
      Map<Long, Double> heat,
      Experience experience) {
    return new WorkingSet.Surroundings(
        nowMillis,
        limits,
        ViewReader.cluster(cluster),
        heat,
        ViewReader.repairedBlocks(cluster),
        ViewReader.lostBlocks(cluster),
        experience,
        transitions);
  }
}
