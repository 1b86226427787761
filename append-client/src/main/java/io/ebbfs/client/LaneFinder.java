package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Joins a writer to the lane of a slot: the newest lane if it takes records, or else a new one.
 * Seals what is in the way.
 */
final class LaneFinder {
  private static final long POLL_MILLIS = 50;

  /** A creator that needs longer is taken for dead. */
  private static final long CREATION_MILLIS = 10_000;

  private final LaneFiles files;
  private final LaneSealer sealer;
  private final int idleMillis;

  LaneFinder(LaneFiles files, LaneSealer sealer, int idleMillis) {
    this.files = files;
    this.sealer = sealer;
    this.idleMillis = idleMillis;
  }

  /** A lane that the writer has joined. */
  record Joined(LaneName name, LaneProto lane, LaneConnection connection) {}

  Joined join(int slot, UUID writer, Consumer<BatchAnswerProto> answers, Deadline deadline)
      throws IOException, InterruptedException {
    IOException last = null;
    for (; ; ) {
      deadline.check("no lane of %s takes records".formatted(files.path()), last);
      LaneName name = usable(slot, deadline);
      Optional<LaneProto> lane = files.lane(name);
      if (lane.isEmpty() || !lane.get().hasBlock()) {
        continue;
      }
      try {
        return new Joined(name, lane.get(), LaneConnection.open(lane.get(), writer, answers));
      } catch (IOException refused) {
        last = refused;
        sealer.seal(name, lane, Optional.empty(), deadline);
      }
    }
  }

  /** The newest lane of the slot, created if all are sealed. Its attributes are set. */
  private LaneName usable(int slot, Deadline deadline) throws IOException, InterruptedException {
    Optional<LaneName> newest = files.newest(slot);
    if (newest.isEmpty()) {
      return created(files.first(slot));
    }
    LaneName name = newest.get();
    Optional<LaneProto> lane = awaitLane(name);
    if (files.sealedBytes(name).isEmpty() && lane.isPresent() && lane.get().hasBlock()) {
      return name;
    }
    sealer.seal(name, lane, Optional.empty(), deadline);
    return created(name.next());
  }

  private LaneName created(LaneName name) throws IOException {
    files.create(name, idleMillis);
    return name;
  }

  /**
   * Waits until the creator of the lane has told it, and gives the lane up if that does not happen.
   */
  Optional<LaneProto> awaitLane(LaneName name) throws IOException, InterruptedException {
    Deadline creation = Deadline.in(CREATION_MILLIS);
    Optional<LaneProto> lane = files.lane(name);
    while (lane.isEmpty() && !creation.isOver()) {
      Thread.sleep(POLL_MILLIS);
      lane = files.lane(name);
    }
    if (lane.isPresent()) {
      return lane;
    }
    files.abandon(name);
    return files.lane(name);
  }
}
