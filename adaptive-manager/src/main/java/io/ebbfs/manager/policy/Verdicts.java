package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.settings.Units;
import java.util.HashMap;
import java.util.Map;

/** Names the state of each file of a policy, with the reason. */
final class Verdicts {
  private final PolicyRun run;
  private final PolicyRule rule;
  private final Map<Long, String> waiting;
  private final String held;
  private final Map<Long, TransitionView> transitions = new HashMap<>();

  /**
   * @param waiting why files wait that are due
   * @param held why the whole policy is held; null if it is not
   */
  Verdicts(PolicyRun run, Map<Long, String> waiting, String held) {
    this.run = run;
    this.rule = run.rule;
    this.waiting = waiting;
    this.held = held;
    run.snapshot.transitions().forEach(t -> transitions.put(t.id(), t));
  }

  Verdict of(FileView file) {
    if (file.underConstruction()) {
      return verdict(file, FileState.UNDER_CONSTRUCTION, "open for writing");
    }
    if (file.blocks() == 0) {
      return verdict(file, FileState.TOO_SMALL, "the file is empty: nothing to encode");
    }
    if (file.looseBlocks() == 0) {
      return striped(file);
    }
    if (file.transitionId() != 0) {
      return verdict(file, FileState.ENCODING, encoding(file));
    }
    return loose(file);
  }

  private Verdict loose(FileView file) {
    long age = run.snapshot.nowMillis() - file.modifiedMillis();
    if (file.lengthBytes() < rule.minFileBytes()) {
      return verdict(
          file,
          FileState.TOO_SMALL,
          Units.showBytes(file.lengthBytes())
              + " is below the minimum of "
              + Units.showBytes(rule.minFileBytes()));
    }
    if (age < rule.writeColdAfterMillis()) {
      return verdict(
          file,
          FileState.TOO_NEW,
          "written "
              + Units.showMillis(Math.max(0, age))
              + " ago, write-cold after "
              + Units.showMillis(rule.writeColdAfterMillis()));
    }
    TransitionView failed = run.failedFiles.get(file.id());
    if (failed != null) {
      return verdict(
          file,
          FileState.FAILED,
          "transition "
              + failed.id()
              + " failed after "
              + failed.attempt()
              + " attempts: "
              + failed.failure()
              + "; tried again "
              + Units.showMillis(run.snapshot.limits().retryFailedAfterMillis())
              + " after it"
              + (failed.lack() == null ? "" : ", or once servers, disks or space are added"));
    }
    String why = held != null ? held : waiting.getOrDefault(file.id(), "the next run encodes it");
    return verdict(file, FileState.WAITING, why);
  }

  private String encoding(FileView file) {
    TransitionView transition = transitions.get(file.transitionId());
    if (transition == null) {
      return "transition " + file.transitionId();
    }
    String again =
        transition.failure().isEmpty() ? "" : "; the last attempt failed: " + transition.failure();
    return "to "
        + transition.toCode()
        + " by transition "
        + transition.id()
        + " ("
        + transition.state().name().toLowerCase(java.util.Locale.ROOT)
        + ")"
        + again;
  }

  private Verdict striped(FileView file) {
    int fast = 0;
    int compact = 0;
    int lost = 0;
    String other = null;
    for (long id : file.stripeIds()) {
      StripeView stripe = run.snapshot.stripes().get(id);
      if (stripe == null) {
        continue;
      }
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
          "encoded as " + other + ", which policy '" + rule.name() + "' does not name" + repair);
    }
    if (rule.isSingle()) {
      return verdict(
          file,
          FileState.ENCODED,
          rule.family().fast() + ", the only code of policy '" + rule.name() + "'" + repair);
    }
    String heat =
        Temperature.show(run.temperature.ofFile(file, rule), rule)
            + " (hot from "
            + rule.readHot().show()
            + ")"
            + repair;
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
        run.snapshot.heatOf(file.id()),
        run.temperature.hot(file, rule),
        file.lengthBytes(),
        file.storedBytes());
  }
}
