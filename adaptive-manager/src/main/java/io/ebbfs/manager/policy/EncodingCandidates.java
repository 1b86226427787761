package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Selects the files that are due for encoding and within the limits of the run, oldest first. A
 * file that is read, but not enough for the fast code yet, stays replicated while its reads are
 * worth that.
 */
final class EncodingCandidates {
  private EncodingCandidates() {}

  /**
   * @param waiting receives the reason of each due file that is not selected
   */
  static List<FileView> select(
      PolicyView view,
      ProposalLimit limit,
      FailedTransitions failed,
      EncodingAge age,
      Map<Long, String> waiting) {
    List<FileView> selected = new ArrayList<>();
    Temperature temperature = view.temperature();
    long bytes = 0;
    long blocks = 0;
    for (FileView file : due(view, failed, age)) {
      Optional<String> wait = waitsReplicated(view.rule(), temperature, file);
      if (wait.isPresent()) {
        waiting.put(file.id(), wait.get());
        continue;
      }
      long stripes = blocks / view.rule().family().compactCode().dataCount();
      if (limit.allows(file.replicatedBytes(), bytes, stripes)) {
        selected.add(file);
        bytes += file.replicatedBytes();
        blocks += file.unencodedBlocks();
      } else {
        waiting.put(file.id(), "waits for " + limit.show());
      }
    }
    return selected;
  }

  private static Optional<String> waitsReplicated(
      PolicyRule rule, Temperature temperature, FileView file) {
    return rule.isSingle() || temperature.isHot(file)
        ? Optional.empty()
        : temperature.waitsReplicated(file);
  }

  private static List<FileView> due(PolicyView view, FailedTransitions failed, EncodingAge age) {
    return view.files().stream()
        .filter(file -> !file.underConstruction() && file.unencodedBlocks() > 0)
        .filter(file -> file.pin() != Pin.REPLICAS)
        .filter(file -> file.transitionId() == 0 && failed.ofFile(file.id()) == null)
        .filter(file -> file.lengthBytes() >= view.rule().minFileBytes() && age.isWriteCold(file))
        .sorted(Comparator.comparingLong(FileView::modifiedMillis).thenComparing(FileView::id))
        .toList();
  }
}
