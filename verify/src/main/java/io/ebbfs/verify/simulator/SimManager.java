package io.ebbfs.verify.simulator;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.manager.config.FileCriteria;
import io.ebbfs.manager.config.Pace;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.Prices;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.Policy;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.NamenodeGateway;
import io.ebbfs.manager.view.SnapshotReader;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import java.time.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/** Runs the manager's own snapshots and policies. The heat of files is random. */
final class SimManager {
  private static final double HOT = 10;
  private static final int PAGE = 7; // so that listings have several pages
  private static final Map<String, Integer> SERVERS = new ConcurrentHashMap<>();

  private final Random random;
  private final Clock clock;
  private final PolicySet policies;
  private final Map<Long, Double> heat = new HashMap<>();
  private List<DecisionProto> decisions = List.of();

  SimManager(CodeFamily pair, Random random, Clock clock) {
    this.random = random;
    this.clock = clock;
    double least = pair.compactCode().overhead();
    double most = pair.fastCode().overhead();
    OptionalDouble bound =
        random.nextBoolean()
            ? OptionalDouble.empty()
            : OptionalDouble.of(least + 0.05 + (most - least) * random.nextDouble());
    policies =
        new PolicySet(
            List.of(
                new PolicyRule(
                    "simulated",
                    FileCriteria.below("/"),
                    pair,
                    bound,
                    0,
                    new ReadHot(ReadHot.Unit.PER_FILE, HOT / 2),
                    1.5,
                    0,
                    random.nextInt(5_000),
                    0,
                    SimWorld.ROOMY,
                    Math.max(servers(pair.fast(), pair), servers(pair.compact(), pair)),
                    Pace.FREE,
                    Prices.DEFAULT,
                    false,
                    false)));
  }

  private static int servers(String code, CodeFamily pair) {
    return SERVERS.computeIfAbsent(
        code,
        name -> MinimumServers.of(name.equals(pair.fast()) ? pair.fastCode() : pair.compactCode()));
  }

  /** Makes some files hot and some cold. */
  void heatChanges(Collection<Long> files) {
    for (long file : files) {
      if (random.nextInt(3) == 0) {
        heat.put(file, random.nextBoolean() ? HOT : 0);
      }
    }
  }

  /**
   * Evaluates the policies and proposes their decisions.
   *
   * @return the number of planned transitions
   */
  int evaluate(CodingProtocol protocol) {
    NamenodeGateway namenode = new NamenodeGateway(() -> protocol, PAGE);
    ClusterSnapshot snapshot =
        SnapshotReader.readAll(
            namenode,
            SimCodes.REGISTRY,
            clock.millis(),
            policies,
            new ClusterSnapshot.Limits(50, 10_000),
            ReadCounts.of(heat),
            Experience.NONE);
    decisions =
        Policy.decide(SimCodes.REGISTRY, snapshot).decisions().stream()
            .map(SimManager::proto)
            .toList();
    return namenode.propose(decisions).stream()
        .mapToInt(proposed -> proposed.getTransitionIdsCount())
        .sum();
  }

  /** The decisions of the last evaluation, for people. */
  List<DecisionProto> lastDecisions() {
    return decisions;
  }

  private static DecisionProto proto(Decision decision) {
    return DecisionProto.newBuilder()
        .setKind(decision.kind())
        .addAllFileIds(decision.fileIds())
        .addAllStripeIds(decision.stripeIds())
        .setToCode(decision.toCode())
        .setPolicy(decision.policy())
        .setReason(decision.reason())
        .build();
  }
}
