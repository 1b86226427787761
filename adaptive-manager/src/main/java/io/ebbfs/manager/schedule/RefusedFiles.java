package io.ebbfs.manager.schedule;

import io.ebbfs.manager.policy.Decision;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Files that their clients have encoded, and whose conversion the namenode has refused. They wait
 * as if the conversion had failed, so that they do not take the place of other files in each run. A
 * manager that starts again has forgotten them. Not thread-safe.
 */
final class RefusedFiles {
  private static final int MOST = 20_000;

  private final Map<Long, TransitionView> byFile = new LinkedHashMap<>();

  void note(DecisionProposer.Outcome outcome) {
    Decision decision = outcome.decision();
    if (outcome.refusal() == null
        || !outcome.transitionIds().isEmpty()
        || !decision.releasesClientStriped()) {
      return;
    }
    for (long file : decision.fileIds()) {
      byFile.remove(file);
      byFile.put(file, failed(file, outcome));
    }
    while (byFile.size() > MOST) {
      byFile.remove(byFile.keySet().iterator().next());
    }
  }

  private static TransitionView failed(long file, DecisionProposer.Outcome outcome) {
    return new TransitionView(
        -file, // no transition has this id
        outcome.decision().kind(),
        TransitionStateProto.FAILED,
        outcome.decision().policy(),
        outcome.decision().toCode(),
        outcome.atMillis(),
        outcome.atMillis(),
        0,
        outcome.refusal(),
        List.of(),
        List.of(),
        Set.of(),
        file,
        false,
        null);
  }

  /** These transitions, and a failed one for each file that was refused after a time. */
  List<TransitionView> beside(List<TransitionView> transitions, long sinceMillis) {
    byFile.values().removeIf(refused -> refused.updatedMillis() < sinceMillis);
    List<TransitionView> all = new ArrayList<>(transitions);
    all.addAll(byFile.values());
    return all;
  }
}
