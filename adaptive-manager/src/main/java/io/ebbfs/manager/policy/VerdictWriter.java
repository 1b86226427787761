package io.ebbfs.manager.policy;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Names the state of each file of a policy, with the reason. */
final class VerdictWriter {
  private final ClusterSnapshot snapshot;
  private final PolicyRule rule;
  private final Temperature temperature;
  private final FailedTransitions failed;
  private final Map<Long, String> waiting;
  private final String held;
  private final Map<Long, TransitionView> transitions = new HashMap<>();

  /**
   * @param waiting why due files are not encoded, by file id
   * @param held why the whole policy is held; null if it is not
   */
  VerdictWriter(PolicyView view, FailedTransitions failed, Map<Long, String> waiting, String held) {
    this.snapshot = view.snapshot();
    this.rule = view.rule();
    this.temperature = view.temperature();
    this.failed = failed;
    this.waiting = waiting;
    this.held = held;
    snapshot.transitions().forEach(t -> transitions.put(t.id(), t));
  }

  Verdict of(FileView file) {
    if (file.underConstruction()) {
      return verdict(file, FileState.UNDER_CONSTRUCTION, "open for writing");
    }
    if (file.blocks() == 0) {
      return verdict(file, FileState.TOO_SMALL, "the file is empty: nothing to encode");
    }
    if (file.unencodedBlocks() == 0) {
      return encoded(file);
    }
    if (file.transitionId() != 0) {
      return verdict(file, FileState.ENCODING, encoding(file));
    }
    return unencoded(file);
  }

  private Verdict unencoded(FileView file) {
    if (file.lengthBytes() < rule.minFileBytes()) {
      return verdict(
          file,
          FileState.TOO_SMALL,
          "%s is below the minimum of %s"
              .formatted(
                  Units.showBytes(file.lengthBytes()), Units.showBytes(rule.minFileBytes())));
    }
    long age = snapshot.nowMillis() - file.modifiedMillis();
    if (age < rule.writeColdAfterMillis()) {
      return verdict(
          file,
          FileState.TOO_NEW,
          "written %s ago, write-cold after %s"
              .formatted(
                  Units.showMillis(Math.max(0, age)),
                  Units.showMillis(rule.writeColdAfterMillis())));
    }
    TransitionView failure = failed.ofFile(file.id());
    if (failure != null) {
      return verdict(file, FileState.FAILED, failure(failure));
    }
    String why = held != null ? held : waiting.getOrDefault(file.id(), "the next run encodes it");
    return verdict(file, FileState.WAITING, why);
  }

  private String failure(TransitionView transition) {
    return "transition %d failed after %d attempts: %s; tried again %s after it%s"
        .formatted(
            transition.id(),
            transition.attempt(),
            transition.failure(),
            Units.showMillis(snapshot.limits().retryFailedAfterMillis()),
            transition.lack() == null ? "" : ", or once servers, disks or space are added");
  }

  private String encoding(FileView file) {
    TransitionView transition = transitions.get(file.transitionId());
    if (transition == null) {
      return "transition " + file.transitionId();
    }
    String again =
        transition.failure().isEmpty() ? "" : "; the last attempt failed: " + transition.failure();
    return "to %s by transition %d (%s)%s"
        .formatted(
            transition.toCode(),
            transition.id(),
            transition.state().name().toLowerCase(Locale.ROOT),
            again);
  }

  private Verdict encoded(FileView file) {
    int fast = 0;
    int compact = 0;
    int lost = 0;
    String other = null;
    List<StripeView> stripes = new ArrayList<>();
    for (long id : file.stripeIds()) {
      StripeView stripe = snapshot.stripes().get(id);
      if (stripe == null) {
        continue;
      }
      stripes.add(stripe);
      lost += stripe.lostPositions().isEmpty() ? 0 : 1;
      if (stripe.code().equals(rule.family().fast())) {
        fast++;
      } else if (stripe.code().equals(rule.family().compact())) {
        compact++;
      } else {
        other = stripe.code();
      }
    }
    String repair = lost == 0 ? "" : "; " + lost + " of its stripes wait for repair";
    if (other != null) {
      return verdict(
          file,
          FileState.OTHER_CODE,
          "encoded as %s, which policy '%s' does not name%s".formatted(other, rule.name(), repair));
    }
    if (rule.isSingle()) {
      return verdict(
          file,
          FileState.ENCODED,
          "%s, the only code of policy '%s'%s"
              .formatted(rule.family().fast(), rule.name(), repair));
    }
    String heat = temperature.explain(file, stripes, fast == 0) + repair;
    if (fast > 0 && compact > 0) {
      return verdict(
          file, FileState.MIXED, fast + " stripes fast, " + compact + " compact; " + heat);
    }
    return fast > 0
        ? verdict(file, FileState.FAST, rule.family().fast() + "; " + heat)
        : verdict(file, FileState.COMPACT, rule.family().compact() + "; " + heat);
  }

  private Verdict verdict(FileView file, FileState state, String reason) {
    return new Verdict(
        file.id(),
        file.path(),
        rule.name(),
        state,
        reason,
        snapshot.heatOf(file.id()),
        temperature.isHot(file),
        file.lengthBytes(),
        file.storedBytes());
  }
}
