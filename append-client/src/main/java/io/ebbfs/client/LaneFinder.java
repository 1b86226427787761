package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.LaneProto;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Joins a writer to the lane of a slot: the newest lane if it takes records, or else a new one.
 * Seals what is in the way, and all older lanes.
 */
final class LaneFinder {
  private static final long POLL_MILLIS = 50;

  /** A creator that needs longer is taken for dead. */
  private static final long CREATION_MILLIS = 30_000;

  private static final long BUSY_MILLIS = 1_000;
  private static final long MOST_BUSY_MILLIS = 16_000;

  /** After a lane could not be created. Each attempt leaves a ledger for an hour. */
  private static final long FAILED_CREATION_MILLIS = 2_000;

  private final LaneFiles files;
  private final LaneSealer sealer;
  private final int lanes;
  private final LaneCreator creator;

  LaneFinder(LaneFiles files, LaneSealer sealer, AppendOptions options) {
    this.files = files;
    this.sealer = sealer;
    this.lanes = options.lanes();
    this.creator = new LaneCreator(files, options.idleMillis());
  }

  /** A lane that the writer has joined. */
  record Joined(LaneName name, LaneProto lane, LaneConnection connection) {}

  /** Joins the lane of the slot, or of another one if too many others use it. */
  Joined join(int slot, UUID writer, Consumer<BatchAnswerProto> answers, Deadline deadline)
      throws IOException, InterruptedException {
    long pause = BUSY_MILLIS;
    IOException last = null;
    for (int from = slot; ; ) {
      deadline.check("no lane of %s takes records".formatted(files.path()), last);
      try {
        Optional<Joined> joined = tryToJoin(from, writer, answers, deadline);
        if (joined.isPresent()) {
          return joined.get();
        }
      } catch (LaneBusyException busy) {
        last = busy;
        from = (from + 1) % lanes;
        Thread.sleep(pause);
        pause = Math.min(2 * pause, MOST_BUSY_MILLIS);
      }
    }
  }

  /** Empty if another writer has been faster. */
  private Optional<Joined> tryToJoin(
      int slot, UUID writer, Consumer<BatchAnswerProto> answers, Deadline deadline)
      throws IOException, InterruptedException {
    List<LaneName> ledgers = files.ledgers(Optional.of(slot));
    Optional<LaneName> newest =
        ledgers.stream().max(Comparator.comparingLong(LaneName::generation));
    if (newest.isEmpty()) {
      return created(() -> creator.createFirst(files.first(slot), writer, answers));
    }
    LaneName name = newest.get();
    Optional<LaneProto> lane = awaitLane(name);
    sealOlder(name, ledgers, deadline);
    if (files.sealedBytes(name).isEmpty() && lane.isPresent() && lane.get().hasBlock()) {
      try {
        return Optional.of(
            new Joined(name, lane.get(), LaneConnection.join(lane.get(), writer, answers)));
      } catch (LaneBusyException busy) {
        throw busy;
      } catch (IOException ended) {
        sealer.seal(name, lane, Optional.empty(), deadline);
      }
    } else {
      sealer.seal(name, lane, Optional.empty(), deadline);
    }
    return created(() -> creator.create(name.next(), writer, answers));
  }

  private interface Creation {
    Optional<Joined> run() throws IOException;
  }

  private static Optional<Joined> created(Creation creation)
      throws IOException, InterruptedException {
    try {
      return creation.run();
    } catch (AppendException | LaneBusyException failure) {
      throw failure;
    } catch (IOException failure) {
      Thread.sleep(FAILED_CREATION_MILLIS);
      throw failure;
    }
  }

  /**
   * Seals the lanes of the slot that are older than its newest one. There is one if two writers
   * have created a first lane at once, or if a writer has died between two steps.
   */
  private void sealOlder(LaneName newest, List<LaneName> ledgers, Deadline deadline)
      throws IOException, InterruptedException {
    for (LaneName name : files.blocks(Optional.of(newest.slot()))) {
      if (name.generation() < newest.generation() && ledgers.contains(name)) {
        sealer.seal(name, awaitLane(name), Optional.empty(), deadline);
      }
    }
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
