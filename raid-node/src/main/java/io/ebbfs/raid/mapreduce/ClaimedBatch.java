package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The transitions that one job has claimed, and may still claim while it runs. Thread-safe. */
public final class ClaimedBatch {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimedBatch.class);

  /** Claims transitions under the name of the job's worker. */
  public interface Source {
    List<ClaimedTransitionProto> claim(int limit) throws IOException;
  }

  private final Source source;
  private final Consumer<ClaimedTransitionProto> held;
  private final List<ClaimedTransitionProto> claimed = new ArrayList<>();
  private int room;

  /**
   * An empty batch.
   *
   * @param limit of its transitions, so that its job ends
   * @param held is told of each claimed transition before the transition runs
   */
  public ClaimedBatch(int limit, Source source, Consumer<ClaimedTransitionProto> held) {
    this.room = limit;
    this.source = source;
    this.held = held;
  }

  /** Claims the available transitions, up to a number. */
  public List<ClaimedTransitionProto> claim(int most) throws IOException {
    int asked = reserve(most);
    if (asked == 0) {
      return List.of();
    }
    List<ClaimedTransitionProto> more = List.of();
    try {
      more = source.claim(asked);
      more.forEach(held);
      return more;
    } finally {
      add(more, asked);
    }
  }

  private synchronized int reserve(int most) {
    int asked = Math.min(most, room);
    room -= asked;
    return asked;
  }

  private synchronized void add(List<ClaimedTransitionProto> more, int asked) {
    claimed.addAll(more);
    room += asked - more.size();
  }

  /** Claims one more transition. If the namenode does not answer, the job ends without it. */
  Optional<ClaimedTransitionProto> claimOne() {
    try {
      return claim(1).stream().findFirst();
    } catch (IOException | RuntimeException e) {
      LOG.warn("the job claims no more transitions: {}", e.toString());
      return Optional.empty();
    }
  }

  public synchronized List<ClaimedTransitionProto> claimed() {
    return List.copyOf(claimed);
  }

  /** The number of claimed transitions by kind. */
  public Map<String, Long> kinds() {
    Map<String, Long> kinds = new TreeMap<>();
    claimed().forEach(c -> kinds.merge(c.getTransition().getKind().name(), 1L, Long::sum));
    return kinds;
  }
}
