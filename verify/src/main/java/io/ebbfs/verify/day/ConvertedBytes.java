package io.ebbfs.verify.day;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The bytes that crossed the network for transitions that policies asked for: encodings above all.
 * They have nothing to do with the steps of the day, and go on beside them. Not thread-safe.
 */
final class ConvertedBytes {
  private static final Set<TransitionKindProto> FOR_SAFETY =
      EnumSet.of(TransitionKindProto.REPAIR, TransitionKindProto.MOVE);

  // Rows of transitions that have ended are removed some time.
  private final Map<Long, Long> byTransition = new HashMap<>();

  /** All bytes until now, given the rows of the transitions. */
  long now(Collection<TransitionRow> rows) {
    rows.stream()
        .filter(row -> row.getState() == TransitionStateProto.DONE)
        .filter(row -> !FOR_SAFETY.contains(row.getKind()))
        .forEach(row -> byTransition.put(row.getId(), row.getRemoteBytes()));
    return byTransition.values().stream().mapToLong(Long::longValue).sum();
  }
}
