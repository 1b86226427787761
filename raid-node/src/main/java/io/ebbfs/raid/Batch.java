package io.ebbfs.raid;

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
final class Batch {
  private static final Logger LOG = LoggerFactory.getLogger(Batch.class);

  /** Claims up to so many transitions, in the name of the job's worker. */
  interface Source {
    List<ClaimedTransitionProto> claim(int limit) throws IOException;
  }

  private final Source source;
  private final Consumer<ClaimedTransitionProto> held;
  private final List<ClaimedTransitionProto> claimed = new ArrayList<>();
  private int room;

  /**
   * An empty batch.
   *
   * @param limit how many it may claim in all, so that its job ends
   * @param held is told each transition that was claimed, before anybody works on it
   */
  Batch(int limit, Source source, Consumer<ClaimedTransitionProto> held) {
    this.room = limit;
    this.source = source;
    this.held = held;
  }

  /** Claims as many transitions as there are, but no more than asked for. */
  List<ClaimedTransitionProto> claim(int most) throws IOException {
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

  /** Claims one more. Nothing if the namenode does not answer: the job ends with what it has. */
  Optional<ClaimedTransitionProto> claimOne() {
    try {
      return claim(1).stream().findFirst();
    } catch (IOException | RuntimeException e) {
      LOG.warn("no more is claimed: {}", e.toString());
      return Optional.empty();
    }
  }

  synchronized List<ClaimedTransitionProto> claimed() {
    return List.copyOf(claimed);
  }

  /** How many transitions of each kind it has claimed. */
  Map<String, Long> kinds() {
    Map<String, Long> kinds = new TreeMap<>();
    claimed().forEach(c -> kinds.merge(c.getTransition().getKind().name(), 1L, Long::sum));
    return kinds;
  }
}
