package io.ebbfs.manager.policy;

import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Selects the files that are due for encoding and within the limits of the run, oldest first. */
final class EncodingCandidates {
  private EncodingCandidates() {}

  /**
   * @param waiting receives the reason of each due file that the limits leave out
   */
  static List<FileView> select(
      PolicyView view,
      ProposalLimit limit,
      FailedTransitions failed,
      EncodingAge age,
      Map<Long, String> waiting) {
    List<FileView> selected = new ArrayList<>();
    long bytes = 0;
    long blocks = 0;
    for (FileView file : due(view, failed, age)) {
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
