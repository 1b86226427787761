package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.ReleaseForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.FileStates;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.StripeView;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Chooses the stripes whose blocks become replicas, because their files are pinned to replicas, or
 * because the files are written again and the policy asks for replicas then (releaseWhenWritten).
 * The limits of conversions hold for them, and so does the storage bound: data that leaves may
 * raise what the rest stores per byte.
 */
final class ReleaseChooser {
  private final PolicyView view;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final ConversionPace pace;
  private final FailedTransitions failed;
  private final Set<Long> taken;
  private final Map<Long, String> waiting;

  /**
   * @param taken the stripes that are in a decision
   * @param waiting receives what each stripe waits for, by the stripe's id
   */
  ReleaseChooser(
      PolicyView view,
      StorageBound bound,
      ProposalLimit limit,
      ConversionPace pace,
      FailedTransitions failed,
      Set<Long> taken,
      Map<Long, String> waiting) {
    this.view = view;
    this.bound = bound;
    this.limit = limit;
    this.pace = pace;
    this.failed = failed;
    this.taken = taken;
    this.waiting = waiting;
  }

  /** Decides which blocks leave now, those of the oldest stripes first. */
  void decide(List<Decision> decisions) {
    decisions.forEach(decision -> taken.addAll(decision.stripeIds()));
    List<StripeView> oldestFirst =
        view.stripes().stream()
            .filter(stripe -> !taken.contains(stripe.id()))
            .sorted(Comparator.comparingLong(StripeView::id))
            .toList();
    for (StripeView stripe : oldestFirst) {
      Set<Long> leaving = leaving(stripe);
      if (!leaving.isEmpty()) {
        view.codes()
            .find(stripe.code())
            .ifPresent(code -> decide(stripe, leaving, code, decisions));
      }
    }
  }

  /** The files whose blocks are to leave the stripe. */
  private Set<Long> leaving(StripeView stripe) {
    if (!view.rule().releaseWhenWritten()) {
      return stripe.leaving();
    }
    Set<Long> leaving = new HashSet<>(stripe.leaving());
    for (long id : stripe.fileIds()) {
      FileView file = view.filesById().get(id);
      if (file != null && isWrittenAgain(file, stripe)) {
        leaving.add(id);
      }
    }
    return leaving;
  }

  /** Whether a file got blocks after the stripe was encoded, and is not write-cold since then. */
  private boolean isWrittenAgain(FileView file, StripeView stripe) {
    long age = view.snapshot().nowMillis() - file.modifiedMillis();
    return file.pin() == Pin.NONE
        && file.hasReplicasToLeave()
        && FileStates.of(file, view.rule(), view.snapshot().stripes()::get) == FileState.WAITING
        && file.modifiedMillis() > stripe.createdMillis()
        && age < view.rule().writeColdAfterMillis()
        && view.owns(file);
  }

  private void decide(
      StripeView stripe, Set<Long> leaving, ErasureCode code, List<Decision> decisions) {
    Set<Integer> positions = stripe.positionsOf(leaving);
    ReleaseForecast forecast = ReleaseForecast.of(stripe, code, positions);
    Optional<String> hold = hold(stripe, forecast);
    String due = "its release to replicas is due and waits for ";
    waiting.put(
        stripe.id(), hold.map(what -> due + what).orElse("it becomes replicas by this evaluation"));
    if (hold.isEmpty()) {
      long bytes = forecast.leavingBytes();
      bound.enter(forecast.change());
      limit.take(bytes, 1);
      pace.take(bytes);
      taken.add(stripe.id());
      decisions.add(
          OrderedRelease.decision(
              view.rule(),
              stripe,
              leaving,
              "%s of %d files are pinned to replicas, or written again (releaseWhenWritten)"
                  .formatted(Units.showBytes(bytes), leaving.size()),
              bytes,
              forecast.movedBytes()));
    }
  }

  private Optional<String> hold(StripeView stripe, ReleaseForecast forecast) {
    long bytes = forecast.leavingBytes();
    if (!stripe.settled()) {
      return Optional.of("the end of a repair or of another transition of its stripe");
    }
    if (failed.concernsRelease(stripe.id())) {
      return Optional.of("limits.retryFailedAfter, since its last release failed");
    }
    Optional<String> paced = pace.hold(0);
    if (paced.isPresent()) {
      return paced;
    }
    if (!limit.allows(bytes)) {
      return Optional.of(limit.show());
    }
    if (!pace.hasLeft(bytes)) {
      return Optional.of(pace.budget());
    }
    return bound.fitsNow(forecast.change())
        ? Optional.empty()
        : Optional.of("room under the bound " + bound.show());
  }
}
