package io.ebbfs.manager.policy;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.ClientStripedForecast;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileState;
import io.ebbfs.manager.view.FileStates;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongFunction;

/** Names the state of any file of a policy, with the reason. Thread-safe. */
final class VerdictWriter {
  private final ClusterSnapshot snapshot;
  private final PolicyRule rule;
  private final Temperature temperature;
  private final FailedTransitions failed;
  private final Map<Long, String> waiting;
  private final Map<Long, String> waitingStripes;
  private final String held;
  private final Set<Long> looked;
  private final Map<Long, TransitionView> transitions = new HashMap<>();

  /**
   * @param waiting why due files are not encoded, by file id
   * @param waitingStripes what stripes wait for whose conversion is due, by stripe id
   * @param held why the whole policy is held; null if it is not
   */
  VerdictWriter(
      PolicyView view,
      FailedTransitions failed,
      Map<Long, String> waiting,
      Map<Long, String> waitingStripes,
      String held) {
    this.snapshot = view.snapshot();
    this.rule = view.rule();
    this.temperature = view.temperature();
    this.failed = failed;
    this.waiting = waiting;
    this.waitingStripes = waitingStripes;
    this.held = held;
    this.looked = view.filesById().keySet();
    snapshot.transitions().forEach(t -> transitions.put(t.id(), t));
  }

  /**
   * @param stripes gives a stripe of the file by its id, or null
   */
  Verdict of(FileView file, LongFunction<StripeView> stripes) {
    FileState state = FileStates.of(file, rule, stripes);
    return switch (state) {
      case UNDER_CONSTRUCTION -> verdict(file, state, "open for writing");
      case TOO_SMALL -> verdict(file, state, tooSmall(file));
      case ENCODING -> verdict(file, state, encoding(file));
      case PINNED -> verdict(file, state, "the file is not encoded");
      case CLIENT_STRIPED -> verdict(file, state, clientStriped(file));
      case WAITING -> unencoded(file);
      default -> verdict(file, state, encoded(file, state, stripes));
    };
  }

  private String tooSmall(FileView file) {
    return file.blocks() == 0
        ? "the file is empty: nothing to encode"
        : "%s is below the minimum of %s"
            .formatted(Units.showBytes(file.lengthBytes()), Units.showBytes(rule.minFileBytes()));
  }

  private static String clientStriped(FileView file) {
    return "its client has encoded the file, and the policy leaves it so (clientStriped: leave); as a replicated file: "
        + ClientStripedForecast.of(file).show();
  }

  private Verdict unencoded(FileView file) {
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
    String why = held != null ? held : waiting.get(file.id());
    if (why == null) {
      why =
          looked.contains(file.id()) ? nextRun(file) : "not looked at yet: older files come first";
    }
    return verdict(file, FileState.WAITING, why);
  }

  private static String nextRun(FileView file) {
    return file.isClientStriped() ? "the next run makes replicas of it" : "the next run encodes it";
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

  private String encoded(FileView file, FileState state, LongFunction<StripeView> byId) {
    List<StripeView> stripes =
        file.stripeIds().stream().map(byId::apply).filter(Objects::nonNull).toList();
    long lost = stripes.stream().filter(stripe -> !stripe.lostPositions().isEmpty()).count();
    String repair = lost == 0 ? "" : "; " + lost + " of its stripes wait for repair";
    if (state == FileState.OTHER_CODE) {
      return "encoded as %s, which policy '%s' does not name%s%s"
          .formatted(otherCode(stripes), rule.name(), waits(stripes), repair);
    }
    if (state == FileState.ENCODED) {
      return "%s, the only code of policy '%s'%s%s"
          .formatted(rule.family().fast(), rule.name(), waits(stripes), repair);
    }
    long fast = stripes.stream().filter(s -> s.code().equals(rule.family().fast())).count();
    String heat = temperature.explain(file, stripes, fast == 0) + waits(stripes) + repair;
    return switch (state) {
      case MIXED -> fast + " stripes fast, " + (stripes.size() - fast) + " compact; " + heat;
      case FAST -> rule.family().fast() + "; " + heat;
      default -> rule.family().compact() + "; " + heat;
    };
  }

  /** What the first stripe waits for whose conversion is due; empty if there is none. */
  private String waits(List<StripeView> stripes) {
    return stripes.stream()
        .map(stripe -> waitingStripes.get(stripe.id()))
        .filter(Objects::nonNull)
        .findFirst()
        .map(what -> "; " + what)
        .orElse("");
  }

  private String otherCode(List<StripeView> stripes) {
    return stripes.stream()
        .map(StripeView::code)
        .filter(c -> !c.equals(rule.family().fast()) && !c.equals(rule.family().compact()))
        .findFirst()
        .orElseThrow();
  }

  private Verdict verdict(FileView file, FileState state, String reason) {
    return new Verdict(
        file.id(),
        file.path(),
        rule.name(),
        state,
        reason + pin(file),
        snapshot.heatOf(file.id()),
        temperature.isHot(file),
        file.lengthBytes(),
        file.storedBytes(),
        file.pin());
  }

  private static String whyStaying(FileView file) {
    return file.isReplicationKnown()
        ? ", but its replication is 1, so its blocks stay in their stripes"
        : ", but the namenode did not tell its replication, so its blocks stay in their stripes: upgrade all namenodes";
  }

  /** What the user of the file asks for, and why that has no effect, if it has none. */
  private String pin(FileView file) {
    if (file.pin() == Pin.NONE || file.isClientStriped()) {
      return "";
    }
    String pinned = "; user.ebbfs.pin: " + file.pin().text();
    boolean isEncoded = file.blocks() > 0 && file.unencodedBlocks() == 0;
    if (file.pin() == Pin.REPLICAS) {
      return isEncoded && !file.hasReplicasToLeave() ? pinned + whyStaying(file) : pinned;
    }
    return rule.isSingle() ? pinned + ", but its policy has one code only" : pinned;
  }
}
