package io.ebbfs.manager.schedule;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.policy.Evaluation;
import io.ebbfs.manager.policy.Verdict;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.PolicySums;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Counts all files by state and temperature: from the sums of the view, corrected by what depends
 * on time and heat, which concerns new files and the files of the snapshot.
 */
public final class StateCounts {
  /** Files in a state, and their bytes. */
  public record Count(FileState state, boolean hot, long files, long bytes) {}

  private final Map<FileState, PolicySums.Count> cold = new EnumMap<>(FileState.class);
  private final Map<FileState, PolicySums.Count> hot = new EnumMap<>(FileState.class);

  private StateCounts() {}

  static List<Count> of(NamespaceView view, ClusterSnapshot snapshot, Evaluation evaluation) {
    StateCounts counts = new StateCounts();
    for (PolicySums sums : snapshot.sums().values()) {
      for (FileState state : FileState.values()) {
        add(counts.cold, state, sums.files(state), 1);
      }
    }
    for (PolicyRule rule : snapshot.policies().rules()) {
      long coldSince = snapshot.nowMillis() - rule.writeColdAfterMillis();
      counts.move(FileState.TOO_NEW, view.newerThan(rule.name(), coldSince));
    }
    for (Verdict verdict : evaluation.verdicts().ofSnapshot()) {
      PolicySums.Count one = new PolicySums.Count(1, verdict.lengthBytes());
      if (verdict.state() == FileState.FAILED) {
        counts.move(FileState.FAILED, one);
      }
      if (verdict.hot()) {
        add(counts.cold, verdict.state(), one, -1);
        add(counts.hot, verdict.state(), one, 1);
      }
    }
    return counts.list();
  }

  /** Of the files that have to be encoded, these are in a state of their own. */
  private void move(FileState to, PolicySums.Count count) {
    add(cold, FileState.WAITING, count, -1);
    add(cold, to, count, 1);
  }

  private static void add(
      Map<FileState, PolicySums.Count> counts, FileState state, PolicySums.Count count, int sign) {
    counts.merge(
        state,
        new PolicySums.Count(sign * count.files(), sign * count.bytes()),
        PolicySums.Count::plus);
  }

  private List<Count> list() {
    List<Count> list = new ArrayList<>();
    for (FileState state : FileState.values()) {
      for (boolean isHot : new boolean[] {true, false}) {
        PolicySums.Count count = (isHot ? hot : cold).get(state);
        if (count != null && count.files() > 0) {
          list.add(new Count(state, isHot, count.files(), count.bytes()));
        }
      }
    }
    return list;
  }
}
