package io.ebbfs.manager.policy;

import io.ebbfs.manager.bound.ClientStripedForecast;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.TransitionView;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Chooses the files that their clients have encoded and that become replicated files now, if the
 * policy converts such files (clientStriped). Afterwards they are encoded like all others. The
 * limits of conversions hold for them; the storage bound does not count replicas.
 */
final class ClientStripedChooser {
  private final PolicyView view;
  private final ProposalLimit limit;
  private final ConversionPace pace;
  private final FailedTransitions failed;
  private final Map<Long, String> waiting;
  private final Map<Long, TransitionView> underWay = new HashMap<>();

  /**
   * @param waiting receives what each file waits for, by its id
   */
  ClientStripedChooser(
      PolicyView view,
      ProposalLimit limit,
      ConversionPace pace,
      FailedTransitions failed,
      Map<Long, String> waiting) {
    this.view = view;
    this.limit = limit;
    this.pace = pace;
    this.failed = failed;
    this.waiting = waiting;
    view.snapshot().transitions().stream()
        .filter(transition -> transition.active() && transition.groupFileId() != 0)
        .forEach(transition -> underWay.put(transition.groupFileId(), transition));
  }

  /** Decides which files are converted now. Files that were written earlier come first. */
  void decide(List<Decision> decisions) {
    if (!view.rule().convertsClientStriped()) {
      return;
    }
    EncodingAge age = new EncodingAge(view.rule(), view.snapshot().nowMillis());
    view.files().stream()
        .filter(file -> file.isClientStriped() && !file.underConstruction())
        .filter(file -> file.lengthBytes() >= view.rule().minFileBytes() && age.isWriteCold(file))
        .sorted(Comparator.comparingLong(FileView::modifiedMillis).thenComparing(FileView::id))
        .forEach(file -> decide(file, decisions));
  }

  private void decide(FileView file, List<Decision> decisions) {
    TransitionView transition = underWay.get(file.id());
    if (transition != null) {
      waiting.put(file.id(), "transition %d makes replicas of it".formatted(transition.id()));
      return;
    }
    ClientStripedForecast cost = ClientStripedForecast.of(file);
    Optional<String> hold = hold(file);
    waiting.put(
        file.id(),
        hold.map(
                what ->
                    "its conversion to replicas is due (%s) and waits for %s"
                        .formatted(cost.show(), what))
            .orElseGet(() -> "it becomes replicas by this evaluation: " + cost.show()));
    if (hold.isEmpty()) {
      limit.take(file.lengthBytes(), 1);
      pace.take(file.lengthBytes());
      decisions.add(
          Decision.releaseClientStriped(
              view.rule(),
              file.id(),
              "its client has encoded it, and the policy converts such files (clientStriped): "
                  + cost.show(),
              file.lengthBytes(),
              cost.movedBytes()));
    }
  }

  private Optional<String> hold(FileView file) {
    if (!file.hasReplicasToLeave()) {
      return Optional.of(
          "a replication of 2 or more in namenode.yaml, and namenodes that know such conversions");
    }
    if (failed.concernsGroupsOf(file.id())) {
      return Optional.of("limits.retryFailedAfter, since its last conversion failed");
    }
    Optional<String> paced = pace.hold(0);
    if (paced.isPresent()) {
      return paced;
    }
    if (!limit.allows(file.lengthBytes())) {
      return Optional.of(limit.show());
    }
    return pace.hasLeft(file.lengthBytes()) ? Optional.empty() : Optional.of(pace.budget());
  }
}
