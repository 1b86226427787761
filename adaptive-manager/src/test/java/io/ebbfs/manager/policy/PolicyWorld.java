package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.FileCriteria;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.Prices;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.model.ModelNamenode;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.SnapshotReader;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/** The model of the namenode, with policies, heat and a clock: all inputs of a decision. */
final class PolicyWorld {
  static final long MIB = 1 << 20;

  final ModelNamenode namenode = new ModelNamenode();
  final Map<Long, Double> heat = new HashMap<>();
  Experience experience = Experience.NONE;
  long now = 1_000_000_000;
  int maxPending = 100_000;
  PolicySet policies;

  PolicyWorld(PolicyRule... rules) {
    this.policies = new PolicySet(List.of(rules));
  }

  /** A policy with fillWait 0: blocks do not wait for further blocks. */
  static PolicyRule rule(String name, String family, Double bound) {
    return rule(name, family, bound, 0);
  }

  static PolicyRule rule(String name, String family, Double bound, long fillWaitMillis) {
    ReadHot hot = new ReadHot(ReadHot.Unit.PER_MIB, 1);
    return rule(name, CodeRegistry.builtIn().family(family), bound, hot, fillWaitMillis);
  }

  static PolicyRule single(String name, String code) {
    return single(name, code, 0);
  }

  static PolicyRule single(String name, String code, long fillWaitMillis) {
    CodeFamily single = CodeFamily.single(io.ebbfs.coding.code.Codes.byName(code));
    return rule(name, single, null, ReadHot.NEVER, fillWaitMillis);
  }

  static PolicyRule rule(
      String name, CodeFamily family, Double bound, ReadHot hot, long fillWaitMillis) {
    return rule(name, family, bound, hot, fillWaitMillis, Pace.FREE);
  }

  static PolicyRule rule(
      String name, CodeFamily family, Double bound, ReadHot hot, long fillWaitMillis, Pace pace) {
    return new PolicyRule(
        name,
        FileCriteria.below("/" + name),
        family,
        bound == null ? OptionalDouble.empty() : OptionalDouble.of(bound),
        10_000,
        hot,
        2,
        0,
        fillWaitMillis,
        0,
        Long.MAX_VALUE / 4,
        6,
        pace,
        Prices.DEFAULT,
        false,
        false);
  }

  /** The same policy, by which read files may stay replicated for so long. */
  static PolicyRule waitingWhileRead(long millis, PolicyRule rule) {
    return with(
        rule,
        rule.files(),
        millis,
        rule.maxBytesPerRun(),
        rule.releaseWhenWritten(),
        rule.convertsClientStriped());
  }

  /** The same policy for files of one owner only. */
  static PolicyRule ofOwner(String owner, PolicyRule rule) {
    FileCriteria files =
        new FileCriteria(rule.files().paths(), rule.files().excluded(), Set.of(owner), Set.of());
    return with(
        rule,
        files,
        rule.waitWhileReadMillis(),
        rule.maxBytesPerRun(),
        rule.releaseWhenWritten(),
        rule.convertsClientStriped());
  }

  /** The same policy that has so many bytes under way at once. */
  static PolicyRule withBytesPerRun(long bytes, PolicyRule rule) {
    return with(
        rule,
        rule.files(),
        rule.waitWhileReadMillis(),
        bytes,
        rule.releaseWhenWritten(),
        rule.convertsClientStriped());
  }

  /** The same policy that makes replicas of data that is written again. */
  static PolicyRule releasing(PolicyRule rule) {
    return with(
        rule,
        rule.files(),
        rule.waitWhileReadMillis(),
        rule.maxBytesPerRun(),
        true,
        rule.convertsClientStriped());
  }

  /** The same policy that converts files that their clients have encoded. */
  static PolicyRule convertingClientStriped(PolicyRule rule) {
    return with(
        rule,
        rule.files(),
        rule.waitWhileReadMillis(),
        rule.maxBytesPerRun(),
        rule.releaseWhenWritten(),
        true);
  }

  private static PolicyRule with(
      PolicyRule rule,
      FileCriteria files,
      long waitWhileReadMillis,
      long maxBytesPerRun,
      boolean releaseWhenWritten,
      boolean convertsClientStriped) {
    return new PolicyRule(
        rule.name(),
        files,
        rule.family(),
        rule.storageBound(),
        rule.writeColdAfterMillis(),
        rule.readHot(),
        rule.hysteresis(),
        rule.minFileBytes(),
        rule.fillWaitMillis(),
        waitWhileReadMillis,
        maxBytesPerRun,
        rule.minServers(),
        rule.pace(),
        rule.prices(),
        releaseWhenWritten,
        convertsClientStriped);
  }

  /** Plans a transition of a stripe that the manager has not proposed. */
  void underWay(
      TransitionKindProto kind, ModelNamenode.ModelStripe stripe, String toCode, int priority) {
    stripe.transition = 1_000_000 + stripe.id;
    namenode.transitions.put(
        stripe.transition,
        TransitionRow.newBuilder()
            .setId(stripe.transition)
            .setKind(kind)
            .setState(TransitionStateProto.PLANNED)
            .setPolicy(stripe.policy)
            .setFromCode(stripe.code.name())
            .setToCode(toCode)
            .setReason("not proposed")
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(priority)
            .setAttempt(0)
            .addStripes(TransitionStripeProto.newBuilder().setStripeId(stripe.id).setGeneration(1))
            .build());
  }

  /** A write-cold file with blocks of 1 MiB. */
  long file(String path, int blocks, double reads) {
    long[] lengths = new long[blocks];
    java.util.Arrays.fill(lengths, MIB);
    return file(path, reads, lengths);
  }

  long file(String path, double reads, long... lengths) {
    long id = namenode.addFile(path, now - 12_000, lengths).id;
    heat.put(id, reads);
    return id;
  }

  ClusterSnapshot snapshot() {
    namenode.nowMillis = now;
    return SnapshotReader.readAll(
        new NamenodeGateway(() -> namenode, 7),
        CodeRegistry.builtIn(),
        now,
        policies,
        new ClusterSnapshot.Limits(maxPending, 60_000),
        ReadCounts.of(Map.copyOf(heat)),
        experience);
  }

  /** The same snapshot, whose transitions were read at another time. */
  static ClusterSnapshot withTransitions(List<TransitionView> read, ClusterSnapshot snapshot) {
    return new ClusterSnapshot(
        snapshot.nowMillis(),
        snapshot.policies(),
        snapshot.limits(),
        snapshot.cluster(),
        snapshot.files(),
        snapshot.stripes(),
        snapshot.sums(),
        snapshot.heat(),
        snapshot.repairedBlocks(),
        snapshot.lostBlocks(),
        snapshot.experience(),
        read);
  }

  Evaluation decide() {
    return Policy.decide(CodeRegistry.builtIn(), snapshot());
  }

  /** Decides and proposes. */
  Evaluation propose() {
    Evaluation evaluation = decide();
    new NamenodeGateway(() -> namenode, 7)
        .propose(evaluation.decisions().stream().map(Decision::toProto).toList());
    return evaluation;
  }

  void completeAll() {
    namenode.completeAll(new java.util.Random(1));
  }

  Verdict verdict(Evaluation evaluation, long fileId) {
    return evaluation.verdicts().ofSnapshot().stream()
        .filter(v -> v.fileId() == fileId)
        .findFirst()
        .orElseThrow();
  }

  FileState state(long fileId) {
    return verdict(decide(), fileId).state();
  }

  /** Stored by live bytes of the stripes of a policy; 0 if there are none. */
  double overhead(String policy) {
    long live = 0;
    long stored = 0;
    for (ModelNamenode.ModelStripe stripe : namenode.stripes.values()) {
      if (stripe.policy.equals(policy)) {
        live += stripe.live();
        stored += stripe.live() + stripe.dead() + stripe.parity();
      }
    }
    return live == 0 ? 0 : (double) stored / live;
  }
}
