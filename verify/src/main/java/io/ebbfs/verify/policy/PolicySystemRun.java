package io.ebbfs.verify.policy;

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
 * One system under one traffic, hour by hour. In each hour the decisions of the hour before are
 * carried out, then reads and failures happen, then the policy decides. Not thread-safe.
 */
final class PolicySystemRun {
  private static final long HOUR_MILLIS = 3_600_000;

  /** The data is new, the cluster is not. */
  private static final double COUNTED_DAYS = 365;

  private final PolicySystem system;
  private final int files;
  private final FailureDraws failures;
  private final double heatPerHour;
  private final double memoryPerHour;
  private final StoredFiles stored;
  private final Ledger ledger;
  private final double[] heat;
  private final double[] remembered;
  private FailureRates rates = FailureRates.PRIOR;
  private List<Decision> decided = List.of();

  /** The sums of what is stored; null once a decision was carried out. */
  private Map<String, PolicySums> sums;

  PolicySystemRun(PolicySystem system, int[] blocks, FailureDraws failures) {
    this.system = system;
    this.files = blocks.length;
    this.failures = failures;
    this.heatPerHour = Math.pow(0.5, 1 / system.memory().heatHours());
    this.memoryPerHour = Math.pow(0.5, 1 / system.memory().days() / 24);
    this.stored = new StoredFiles(PolicySystem.CODES, blocks);
    long total = 0;
    for (int count : blocks) {
      total += count;
    }
    this.ledger = new Ledger(total, failures.hours());
    ledger.ingest = 3.0 * total;
    this.heat = new double[files];
    this.remembered = new double[files];
  }

  static Ledger.Figures of(PolicySystem system, Traffic traffic, FailureDraws failures) {
    PolicySystemRun run = new PolicySystemRun(system, traffic.blocks(), failures);
    for (int hour = 0; hour < failures.hours(); hour++) {
      run.hour(hour, traffic.opens()[hour]);
    }
    return run.ledger.figures(run.files);
  }

  StoredFiles stored() {
    return stored;
  }

  Ledger ledger() {
    return ledger;
  }

  void hour(int hour, int[] opens) {
    for (Decision decision : decided) {
      stored.apply(decision, hour * HOUR_MILLIS, ledger);
      sums = null;
    }
    double lost = failures.lost()[hour];
    double absent = failures.absent()[hour];
    stored.count(opens, lost, absent, ledger);
    rates = rates.plus(1.0 / 24, lost, absent);
    long now = (hour + 1) * HOUR_MILLIS;
    for (int file = 0; file < files; file++) {
      heat[file] = heat[file] * heatPerHour + opens[file];
      remembered[file] = remembered[file] * memoryPerHour + opens[file];
    }
    decided = mayDecide() ? decide(now) : List.of();
  }

  private boolean mayDecide() {
    return system.rule().isPresent() && !(system.isSingle() && stored.allEncoded());
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
    PolicySet policies = new PolicySet(List.of(system.rule().orElseThrow()));
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
                (long) (system.memory().days() * Experience.DAY),
                COUNTED_DAYS,
                ReadCounts.of(reads),
                Map.of()),
            List.of());
    return Policy.decide(PolicySystem.CODES, snapshot).decisions();
  }
}
