package io.ebbfs.verify.simulator;

import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** Knows during which attempts of transitions something was destroyed. */
final class DisturbedAttempts {
  private final MetadataMirror rows;
  private final Set<String> disturbed = new HashSet<>();

  DisturbedAttempts(MetadataMirror rows) {
    this.rows = rows;
  }

  /** Whether something was destroyed during the latest attempt of a transition. */
  boolean isDisturbed(TransitionRow row) {
    return disturbed.contains(name(row));
  }

  /** The attempts that are running: "transition/number". */
  Set<String> running() {
    Set<String> running = new TreeSet<>();
    for (TransitionRow row : rows.transitions.values()) {
      if (row.getState() == TransitionStateProto.RUNNING) {
        running.add(name(row));
      }
    }
    return running;
  }

  private static String name(TransitionRow row) {
    return row.getId() + "/" + row.getAttempt();
  }

  /** Records that something is destroyed while these attempts run. */
  void disturb(Set<String> attempts) {
    disturbed.addAll(attempts);
  }

  /** Whether something was destroyed during one of these attempts. */
  boolean isAnyDisturbed(Set<String> attempts) {
    return attempts.stream().anyMatch(disturbed::contains);
  }
}
