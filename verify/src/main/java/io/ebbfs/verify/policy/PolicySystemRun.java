package io.ebbfs.verify.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.policy.Policy;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One system under one traffic, step by step. In each step the decisions of the step before are
 * carried out, then reads and failures happen, then the policies decide. Not thread-safe.
 */
final class PolicySystemRun {
  private static final long HOUR_MILLIS = 3_600_000;

  private final PolicySet policies;
  private final PolicySystem.Memory memory;
  private final int files;
  private final FailureDraws failures;
  private final Steps steps;
  private final double heatPerStep;
  private final double memoryPerStep;
  private final StoredFiles stored;
  private final Ledger ledger;
  private final double[] heat;
  private final double[] remembered;
  private FailureRates rates = FailureRates.PRIOR;
  private List<Decision> decided = List.of();

  /** The sums of what is stored; null once a decision was carried out. */
  private Map<String, PolicySums> sums;

  /** The hours of a system whose files are written in the first hour. */
  PolicySystemRun(PolicySystem system, int[] blocks, FailureDraws failures) {
    this(
        new PolicySet(system.rule().stream().toList()),
        system.memory(),
        new StoredFiles(PolicySystem.CODES, blocks),
        failures,
        Steps.HOURS);
    ledger.ingest = 3.0 * stored.totalBlocks();
  }

  /**
   * Any steps of a cluster.
   *
   * @param policies none for replicas
   * @param memory how reads are forgotten
   * @param failures of each step
   */
  PolicySystemRun(
      PolicySet policies,
      PolicySystem.Memory memory,
      StoredFiles stored,
      FailureDraws failures,
      Steps steps) {
    this.policies = policies;
    this.memory = memory;
    this.files = stored.fileCount();
    this.failures = failures;
    this.steps = steps;
    this.heatPerStep = Math.pow(0.5, steps.hours() / memory.heatHours());
    this.memoryPerStep = Math.pow(0.5, steps.hours() / memory.days() / 24);
    this.stored = stored;
    this.ledger = new Ledger(stored.totalBlocks(), failures.hours());
    this.heat = new double[files];
    this.remembered = new double[files];
  }

  static Ledger.Figures of(PolicySystem system, Traffic traffic, FailureDraws failures) {
    PolicySystemRun run = new PolicySystemRun(system, traffic.blocks(), failures);
    boolean[][] hot = HottestFiles.byHour(traffic.opens());
    for (int hour = 0; hour < failures.hours(); hour++) {
      run.step(hour, traffic.opens()[hour], hot[hour]);
    }
    return run.ledger.figures(run.files);
  }

  StoredFiles stored() {
    return stored;
  }

  Ledger ledger() {
    return ledger;
  }

  /** A step whose readers' waits are not told apart by the heat of the files. */
  void step(int step, int[] opens) {
    step(step, opens, new boolean[files]);
  }

  /**
   * The next step.
   *
   * @param opens by file
   * @param hot whether a file is one of those that are read most in the day
   */
  void step(int step, int[] opens, boolean[] hot) {
    for (Decision decision : decided) {
      stored.apply(decision, step * steps.millis(), ledger);
      sums = null;
    }
    double lost = failures.lost()[step];
    double absent = failures.absent()[step];
    stored.count(opens, hot, lost, absent, ledger);
    double weight = steps.weight(stored.stripeBlocks());
    rates = rates.plus(steps.hours() / 24 * weight, lost * weight, absent);
    for (int file = 0; file < files; file++) {
      heat[file] = heat[file] * heatPerStep + opens[file];
      remembered[file] = remembered[file] * memoryPerStep + opens[file];
    }
    decided = mayDecide() ? decide((step + 1) * steps.millis()) : List.of();
  }

  private boolean mayDecide() {
    boolean single = policies.rules().stream().allMatch(PolicyRule::isSingle);
    return !policies.rules().isEmpty() && !(single && stored.allEncoded());
  }

  private List<Decision> decide(long now) {
    Map<Long, Double> heatById = new HashMap<>();
    Map<Long, Double> reads = new HashMap<>();
    for (int file = 0; file < files; file++) {
      if (remembered[file] > 0) {
        heatById.put(file + 1L, heat[file]);
        reads.put(file + 1L, remembered[file]);
      }
    }
    Collection<FileView> fileViews = stored.fileViews();
    Map<Long, StripeView> stripeViews = stored.stripeViews();
    if (sums == null) {
      sums = PolicySums.of(PolicySystem.CODES, policies, fileViews, stripeViews);
    }
    ClusterSnapshot snapshot =
        new ClusterSnapshot(
            now,
            policies,
            new ClusterSnapshot.Limits(100_000, HOUR_MILLIS),
            new ClusterSnapshot.Cluster(100, 100, Long.MAX_VALUE / 4, false),
            fileViews,
            stripeViews,
            sums,
            ReadCounts.of(heatById),
            0,
            0,
            new Experience(
                rates,
                (long) (memory.days() * Experience.DAY),
                steps.countedDays() + now / Experience.DAY,
                ReadCounts.of(reads),
                Map.of()),
            List.of());
    return Policy.decide(PolicySystem.CODES, snapshot).decisions();
  }
}
