package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.PolicySums;
import io.ebbfs.manager.view.StripeView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;

/** Names the state of any file by one evaluation, with the reason. Thread-safe. */
public final class Verdicts {
  private final ClusterSnapshot snapshot;
  private final Map<String, VerdictWriter> byPolicy = new HashMap<>();
  private List<Verdict> ofSnapshot;

  Verdicts(ClusterSnapshot snapshot) {
    this.snapshot = snapshot;
  }

  void add(PolicyRule rule, VerdictWriter writer) {
    byPolicy.put(rule.name(), writer);
  }

  /**
   * The state of a file, which need not be in the snapshot.
   *
   * @param stripes gives a stripe of the file by its id, or null
   */
  public Verdict of(FileView file, LongFunction<StripeView> stripes) {
    Optional<PolicyRule> rule = file.policyOf(snapshot.policies());
    return rule.isPresent()
        ? byPolicy.get(rule.get().name()).of(file, stripes)
        : withoutPolicy(file);
  }

  private Verdict withoutPolicy(FileView file) {
    FileState state = file.underConstruction() ? FileState.UNDER_CONSTRUCTION : FileState.NO_POLICY;
    String reason =
        file.underConstruction()
            ? "open for writing"
            : "no policy matches %s of owner '%s' and group '%s'"
                .formatted(file.path(), file.owner(), file.group());
    return new Verdict(
        file.id(),
        file.path(),
        null,
        state,
        reason,
        snapshot.heatOf(file.id()),
        false,
        file.lengthBytes(),
        file.storedBytes(),
        file.pin());
  }

  /** The states of the files of the snapshot, once all policies have decided. Made once. */
  public synchronized List<Verdict> ofSnapshot() {
    if (ofSnapshot == null) {
      ofSnapshot =
          snapshot.files().stream().map(file -> of(file, snapshot.stripes()::get)).toList();
    }
    return ofSnapshot;
  }

  /** How many files no policy matches, open files left out. */
  public long filesWithoutPolicy() {
    return snapshot.sumsOf(PolicySums.NO_POLICY).files(FileState.NO_POLICY).files();
  }
}
