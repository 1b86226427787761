package io.ebbfs.workloads.data;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Orders changes of codes at the namenode of EbbFS, and tells what transitions moved. */
final class EncodedByOrder implements AutoCloseable {
  private static final long WAIT_MILLIS = 300_000;
  private static final long POLL_MILLIS = 20;

  private final NamenodeClient namenode;
  private final ClusterProbe probe;

  EncodedByOrder(LocalCluster cluster) throws IOException {
    namenode = cluster.namenodeClient();
    probe = new ClusterProbe(CodeRegistry.builtIn(), cluster.namenodeClient());
  }

  /** Encodes the files of a directory and waits for the end. */
  void encode(String directory, String code) throws IOException, InterruptedException {
    DecisionProto.Builder decision = decision(TransitionKindProto.ENCODE, code);
    for (FileStatusProto file : probe.files(directory)) {
      decision.addFileIds(file.getFileId());
    }
    order(decision.build());
  }

  /** Converts all stripes and waits for the end. */
  void convert(TransitionKindProto kind, String code) throws IOException, InterruptedException {
    DecisionProto.Builder decision = decision(kind, code);
    probe.stripes().forEach(stripe -> decision.addStripeIds(stripe.getStripe().getId()));
    order(decision.build());
  }

  private static DecisionProto.Builder decision(TransitionKindProto kind, String code) {
    return DecisionProto.newBuilder()
        .setKind(kind)
        .setToCode(code)
        .setPolicy("nothing")
        .setReason("ordered by the benchmark");
  }

  private void order(DecisionProto decision) throws IOException, InterruptedException {
    ProposeRequestProto request = ProposeRequestProto.newBuilder().addDecisions(decision).build();
    long last = lastTransition();
    waiter()
        .until(
            "an order",
            () -> {
              ProposedProto proposed =
                  RemoteCall.answerOf(() -> namenode.coding().propose(null, request)).getResults(0);
              return proposed.getTransitionIdsCount() > 0 ? null : proposed.getRefusal();
            });
    waiter().until("the end of an order", probe::activity);
    for (TransitionRow row : probe.transitions()) {
      if (row.getId() > last && row.getState() != TransitionStateProto.DONE) {
        throw new IOException("a transition is not done: " + row.getFailure());
      }
    }
  }

  private static ConditionWaiter waiter() {
    return ConditionWaiter.within(WAIT_MILLIS).every(POLL_MILLIS);
  }

  long lastTransition() throws IOException {
    return probe.transitions().stream().mapToLong(TransitionRow::getId).max().orElse(0);
  }

  // ---- losses -----------------------------------------------------------------------------------

  /** Waits until the namenode knows that something is lost. */
  void awaitLoss() throws IOException, InterruptedException {
    waiter().until("the notice of a loss", () -> wounds() > 0 ? null : "nothing is lost");
  }

  /** Waits until everything is repaired. */
  void awaitWhole() throws IOException, InterruptedException {
    waiter()
        .until(
            "the end of all repairs",
            () -> {
              long wounds = wounds();
              return wounds > 0 ? wounds + " stripes and blocks are not whole" : probe.activity();
            });
  }

  private long wounds() throws IOException {
    GetClusterResponseProto cluster = probe.cluster();
    return cluster.getUnderReplicatedBlocks()
        + cluster.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
  }

  /** Waits until all stripes are deleted, which follows the delete of their files. */
  void awaitNoStripes() throws IOException, InterruptedException {
    waiter()
        .until(
            "the deletion of all stripes",
            () -> probe.stripes().isEmpty() ? probe.activity() : "some stripes are left");
  }

  /** All stripes, before a loss. */
  List<StripeStatusProto> stripes() throws IOException {
    return probe.stripes();
  }

  /**
   * What the transitions since then read and wrote, and what plans for what they rebuilt read and
   * write.
   *
   * @param last the last transition before
   * @param before the stripes before the loss
   */
  Run.Traffic repairsSince(long last, List<StripeStatusProto> before) throws IOException {
    long moved = 0;
    long planned = 0;
    for (TransitionRow row : probe.transitions()) {
      if (row.getId() > last && row.getKind() == TransitionKindProto.REPAIR) {
        moved += row.getBytesRead() + row.getBytesWritten();
        long stripe = row.getStripes(0).getStripeId();
        planned +=
            before.stream()
                .filter(candidate -> candidate.getStripe().getId() == stripe)
                .mapToLong(
                    found -> plannedBytes(found, Set.copyOf(row.getStripes(0).getPositionsList())))
                .sum();
      }
    }
    return new Run.Traffic(moved, planned);
  }

  /** The blocks of a stripe here are of one length. */
  private static long plannedBytes(StripeStatusProto stripe, Set<Integer> lost) {
    ErasureCode code = Codes.byName(stripe.getStripe().getCode());
    Set<Integer> present =
        stripe.getStripe().getMembersList().stream()
            .map(StripeMemberProto::getPosition)
            .collect(Collectors.toCollection(TreeSet::new));
    long length =
        stripe.getStripe().getMembersList().stream()
            .mapToLong(StripeMemberProto::getLengthBytes)
            .max()
            .orElse(0);
    long reads =
        Planner.repair(code, present, lost, Set.of(), ReadCost.UNIFORM).stream()
            .mapToLong(CombinePlan::reads)
            .sum();
    return (reads + lost.size()) * length;
  }

  /** What the conversions since then read and wrote. */
  Run.Traffic movedSince(long last) throws IOException {
    long moved = 0;
    for (TransitionRow row : probe.transitions()) {
      if (row.getId() > last) {
        moved += row.getBytesRead() + row.getBytesWritten();
      }
    }
    return new Run.Traffic(moved, 0);
  }

  @Override
  public void close() {
    probe.close();
    namenode.close();
  }
}
