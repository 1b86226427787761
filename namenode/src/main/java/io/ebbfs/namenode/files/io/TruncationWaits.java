package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.replicas.EncodedBlocks.Obstacle;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the truncations under way wait for. Operators hear of one if somebody has to act, or if it
 * has waited for long. A new leader starts with an empty list. Thread-safe.
 */
public final class TruncationWaits {
  private static final Logger LOG = LoggerFactory.getLogger(TruncationWaits.class);
  private static final long LONG_MILLIS = 600_000;

  /**
   * A truncation that waits.
   *
   * @param sinceMillis when the namenode saw first that it waits
   * @param lasting whether it does not go on before somebody acts
   */
  public record Waiting(
      long fileId, String reason, long sinceMillis, boolean lasting, boolean logged) {
    private boolean isTold(long nowMillis) {
      return lasting || nowMillis - sinceMillis >= LONG_MILLIS;
    }
  }

  private final Clock clock;
  private final Map<Long, Waiting> byFile = new ConcurrentHashMap<>();

  public TruncationWaits(Clock clock) {
    this.clock = clock;
  }

  /** Notes why a truncation does not go on now. The first time that operators hear it is logged. */
  public void note(long fileId, Obstacle obstacle) {
    long now = clock.millis();
    byFile.compute(
        fileId,
        (id, before) -> {
          long since = before == null ? now : before.sinceMillis();
          boolean logged = before != null && before.logged();
          Waiting waiting =
              new Waiting(fileId, obstacle.reason(), since, obstacle.lasting(), logged);
          if (logged || !waiting.isTold(now)) {
            return waiting;
          }
          LOG.warn("The truncation of file {} waits: {}", fileId, obstacle.reason());
          return new Waiting(fileId, obstacle.reason(), since, obstacle.lasting(), true);
        });
  }

  void forget(long fileId) {
    byFile.remove(fileId);
  }

  /** Forgets the files that nobody holds any more. */
  void retain(Set<Long> openFiles) {
    byFile.keySet().retainAll(openFiles);
  }

  /** The truncations of which operators are told, the oldest first. */
  public List<Waiting> told() {
    long now = clock.millis();
    return byFile.values().stream()
        .filter(waiting -> waiting.isTold(now))
        .sorted(Comparator.comparingLong(Waiting::sinceMillis))
        .toList();
  }
}
