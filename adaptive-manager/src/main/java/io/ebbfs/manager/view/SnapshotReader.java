package io.ebbfs.manager.view;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.protocol.proto.CodingProtos.DirectoryStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

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
      ReadCounts heat,
      Experience experience) {
    List<TransitionView> transitions = transitions(namenode);
    List<FileView> files = files(namenode);
    Map<Long, FileView> byId = new HashMap<>();
    files.forEach(file -> byId.put(file.id(), file));
    Map<Long, StripeView> stripes = new HashMap<>();
    namenode.eachStripe(
        page ->
            page.getStripesList()
                .forEach(
                    status -> {
                      StripeView stripe = ViewReader.stripe(status);
                      stripes.put(
                          stripe.id(),
                          stripe.withPinsOf(
                              stripe.fileIds().stream()
                                  .map(byId::get)
                                  .filter(Objects::nonNull)
                                  .toList()));
                    }));
    return surroundings(namenode.cluster(), transitions, nowMillis, limits, heat, experience)
        .with(policies, files, stripes, PolicySums.of(codes, policies, files, stripes));
  }

  /** All files with the pins that hold for them. */
  private static List<FileView> files(NamenodeGateway namenode) {
    List<FileStatusProto> listed = new ArrayList<>();
    Map<Long, DirectoryStatusProto> directories = new HashMap<>();
    ByteString cursor = null;
    do {
      ListFilesResponseProto page = namenode.inodes(cursor);
      listed.addAll(page.getFilesList());
      page.getDirectoriesList().forEach(d -> directories.put(d.getDirectoryId(), d));
      cursor = page.hasCursor() ? page.getCursor() : null;
    } while (cursor != null);
    return listed.stream()
        .map(file -> ViewReader.file(file).withPin(PinResolver.of(file, directories::get)))
        .toList();
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
      ReadCounts heat,
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
