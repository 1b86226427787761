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
 * Seals lanes in the order of their generations, so that the records of a writer keep their order.
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
    this.creator = new LaneCreator(files, options);
  }

  /**
   * A lane that the writer has joined.
   *
   * @param created whether this writer has created the lane, and so has to seal the older lanes of
   *     its slot
   */
  record Joined(LaneName name, LaneProto lane, LaneConnection connection, boolean created) {}

  /** A lane that its leader has finished, with the answer that tells its lengths. */
  record Finished(LaneName name, LaneProto lane, BatchAnswerProto answer) {}

  /**
   * Joins the lane of the slot, or of another slot if too many writers use the lane.
   *
   * @param finished the lane that the writer comes from, which takes no records any more
   */
  Joined join(
      int slot,
      UUID writer,
      Consumer<BatchAnswerProto> answers,
      Optional<Finished> finished,
      Deadline deadline)
      throws IOException, InterruptedException {
    long pause = BUSY_MILLIS;
    IOException last = null;
    for (int from = slot; ; ) {
      deadline.check("no lane of %s takes records".formatted(files.path()), last);
      try {
        Optional<Joined> joined = tryToJoin(from, writer, answers, finished);
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
      int slot, UUID writer, Consumer<BatchAnswerProto> answers, Optional<Finished> finished)
      throws IOException, InterruptedException {
    Optional<LaneName> newest =
        files.ledgers(Optional.of(slot)).stream()
            .max(Comparator.comparingLong(LaneName::generation));
    if (newest.isEmpty()) {
      return created(() -> creator.createFirst(files.first(slot), writer, answers));
    }
    LaneName name = newest.get();
    if (finished.isEmpty() || !finished.get().name().equals(name)) {
      Optional<Joined> joined = joinOpen(name, writer, answers);
      if (joined.isPresent()) {
        return joined;
      }
    }
    return created(() -> creator.create(name.next(), writer, answers));
  }

  /** Empty if the lane takes no records any more. */
  private Optional<Joined> joinOpen(LaneName name, UUID writer, Consumer<BatchAnswerProto> answers)
      throws IOException, InterruptedException {
    Optional<LaneProto> lane = awaitLane(name);
    if (lane.isEmpty() || !lane.get().hasBlock() || files.sealedBytes(name).isPresent()) {
      return Optional.empty();
    }
    try {
      LaneConnection connection = LaneConnection.join(lane.get(), writer, answers);
      return Optional.of(new Joined(name, lane.get(), connection, false));
    } catch (LaneBusyException busy) {
      throw busy;
    } catch (IOException ended) {
      return Optional.empty();
    }
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
   * Seals the lane, and before it all older lanes of its slot: a writer goes on in the next lane
   * before the lane that is full is sealed.
   *
   * @param finished the answer of the leader that has finished the lane, if there is one
   * @return the bytes of the block that are part of the file
   */
  long seal(
      LaneName name,
      Optional<LaneProto> lane,
      Optional<BatchAnswerProto> finished,
      Deadline deadline)
      throws IOException, InterruptedException {
    sealOlder(name, Optional.empty(), deadline);
    return sealer.seal(name, lane, finished, deadline);
  }

  /**
   * Seals the lanes of the slot that are older than this one.
   *
   * @param finished what the caller knows of one of them
   */
  void sealOlder(LaneName newest, Optional<Finished> finished, Deadline deadline)
      throws IOException, InterruptedException {
    List<LaneName> ledgers = files.ledgers(Optional.of(newest.slot()));
    for (LaneName name : files.blocks(Optional.of(newest.slot()))) {
      if (name.generation() >= newest.generation() || !ledgers.contains(name)) {
        continue;
      }
      Optional<Finished> known = finished.filter(lane -> lane.name().equals(name));
      sealer.seal(
          name,
          known.isPresent() ? known.map(Finished::lane) : awaitLane(name),
          known.map(Finished::answer),
          deadline);
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
