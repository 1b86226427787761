package io.ebbfs.client;

import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto;
import io.ebbfs.protocol.proto.AppendProtos.BatchAnswerProto.Result;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;

/**
 * The thread of a writer: sends its batches to a lane, and goes on in the next lane when the lane
 * ends. All batches in a finished lane were answered, so its writers go on at once, and the creator
 * of the next lane of the slot seals the finished one. After a broken lane a batch without an
 * answer goes to the next lane only when the broken lane is sealed and its ledger was asked, so
 * that no record is in the file twice.
 */
final class AppendWorker {
  private static final long RENEWAL_MILLIS = 20_000;

  /**
   * Who appends.
   *
   * @param claim the right to the id; empty if nobody else has the id
   */
  record Identity(UUID writer, Optional<WriterClaim> claim) {}

  private final LaneFiles files;
  private final LaneFinder finder;
  private final UUID writer;
  private final Optional<WriterClaim> claim;
  private final AppendOptions options;
  private final Patience patience;
  private final PendingBatches batches;
  private final Thread thread;
  private final Thread renewal;

  /** The lane in use, or the lane that has ended and is not settled. Of the worker's thread. */
  private LaneFinder.Joined joined;

  /** The finished lane that this writer has left, as long as it has joined no other lane. */
  private Optional<LaneFinder.Finished> left = Optional.empty();

  /** Answers of the lane in use arrive here, on the thread of its connection. */
  private volatile Answers answers;

  AppendWorker(
      LaneFiles files,
      LaneFinder finder,
      Identity identity,
      AppendOptions options,
      PendingBatches batches) {
    this.files = files;
    this.finder = finder;
    this.writer = identity.writer();
    this.claim = identity.claim();
    this.options = options;
    this.patience = new Patience(files.path(), options.patienceMillis());
    this.batches = batches;
    this.thread = new Thread(this::run, "append to " + files.path());
    this.renewal = new Thread(this::renewLeases, "leases of " + files.path());
    thread.setDaemon(true);
    renewal.setDaemon(true);
  }

  void start() {
    thread.start();
    renewal.start();
  }

  void join() throws InterruptedException {
    thread.join();
  }

  private void run() {
    try {
      while (!batches.isDone()) {
        batches.awaitWork();
        step();
      }
      leave();
      claim.ifPresent(right -> right.release(batches.firstUnstored()));
    } catch (InterruptedException | IOException | RuntimeException failure) {
      batches.fail(failure);
    } finally {
      renewal.interrupt();
      if (joined != null) {
        joined.connection().close();
      }
    }
  }

  /** Leaves a lane that has ended, and sends what waits. */
  private void step() throws IOException, InterruptedException {
    Optional<BatchAnswerProto> end = joined == null ? Optional.empty() : answers.end();
    if (end.isPresent()) {
      if (end.get().getResult() == Result.FINISHED && batches.hasPending()) {
        goOn(end.get());
      } else {
        settle(end.get());
      }
    }
    if (!batches.isReady()) {
      return;
    }
    if (joined != null) {
      send();
      return;
    }
    joinLane();
    send(); // first, so that the lane is not idle while older lanes are sealed
    sealOlder();
  }

  private void send() {
    Optional<Batch> next = batches.send();
    if (next.isEmpty()) {
      return;
    }
    try {
      joined.connection().send(next.get());
    } catch (IOException lost) {
      // The thread that reads the answers learns it too, and tells the end of the lane.
      joined.connection().close();
    }
  }

  private void joinLane() throws IOException, InterruptedException {
    joinNewest();
    while (!tellLane()) {
      joined.connection().close();
      joined = null;
      joinNewest();
    }
  }

  private void joinNewest() throws IOException, InterruptedException {
    int slot = Math.floorMod(writer.hashCode(), options.lanes());
    try {
      joined =
          patience.repeat(
              deadline -> {
                answers = new Answers(batches);
                return finder.join(slot, writer, answers::take, left, deadline);
              });
    } catch (IOException noLane) {
      sealLeft();
      throw noLane;
    }
    if (left.isPresent() && left.get().name().slot() != joined.name().slot()) {
      sealLeft();
    }
  }

  /**
   * Whoever takes the id of this writer over must know the lane, to seal it. False if the lane was
   * sealed and forgotten while this writer was paused.
   */
  private boolean tellLane() throws IOException, InterruptedException {
    if (claim.isEmpty()) {
      return true;
    }
    LaneName name = joined.name();
    long next = batches.firstUnstored();
    return patience.repeat(deadline -> claim.get().enter(name, next));
  }

  /**
   * Seals the lane that this writer has left: no other writer may open the next lane of its slot.
   */
  private void sealLeft() throws IOException, InterruptedException {
    Optional<LaneFinder.Finished> lane = left;
    left = Optional.empty();
    if (lane.isPresent()) {
      patience.repeat(
          deadline ->
              finder.seal(
                  lane.get().name(),
                  Optional.of(lane.get().lane()),
                  Optional.of(lane.get().answer()),
                  deadline));
    }
  }

  /** Seals the older lanes of the slot if this writer has created the lane that it has joined. */
  private void sealOlder() throws IOException, InterruptedException {
    Optional<LaneFinder.Finished> finished = left;
    left = Optional.empty();
    if (joined.created()) {
      LaneName name = joined.name();
      patience.repeat(
          deadline -> {
            finder.sealOlder(name, finished, deadline);
            return name;
          });
    }
  }

  /** The batches without an answer are not in the finished lane, and go to the next one. */
  private void goOn(BatchAnswerProto end) {
    joined.connection().close();
    left = Optional.of(new LaneFinder.Finished(joined.name(), joined.lane(), end));
    batches.sendAgain();
    joined = null;
  }

  /** The lane has ended: seals it, and asks its ledger for the batches without an answer. */
  private void settle(BatchAnswerProto end) throws IOException, InterruptedException {
    joined.connection().close();
    boolean finished = end.getResult() == Result.FINISHED;
    if (!finished && batches.oldestSent().isEmpty() && rejoin()) {
      return;
    }
    LaneName name = joined.name();
    long sealed =
        patience.repeat(
            deadline ->
                finder.seal(
                    name,
                    Optional.of(joined.lane()),
                    finished ? Optional.of(end) : Optional.empty(),
                    deadline));
    if (batches.oldestSent().isPresent() && !finished) {
      completeThoseIn(patience.repeat(deadline -> files.readSealed(name, sealed)), sealed);
    }
    batches.sendAgain();
    joined = null;
  }

  /**
   * Goes on in the lane whose connection was lost while no batch was under way, for example because
   * this writer was quiet for long. False if the lane has ended.
   */
  private boolean rejoin() {
    Answers next = new Answers(batches);
    try {
      LaneConnection connection = LaneConnection.join(joined.lane(), writer, next::take);
      answers = next;
      joined = new LaneFinder.Joined(joined.name(), joined.lane(), connection, false);
      return true;
    } catch (LaneBusyException usedByOthers) {
      joined = null;
      return true;
    } catch (IOException ended) {
      return false;
    }
  }

  private void completeThoseIn(LaneLedger ledger, long sealedBytes) {
    for (Optional<Long> first = batches.oldestSent();
        first.isPresent() && ledger.holds(writer, first.get(), sealedBytes);
        first = batches.oldestSent()) {
      batches.stored(first.get());
    }
  }

  /** All is stored: the lane is finished and sealed unless others use it. */
  private void leave() throws IOException, InterruptedException {
    while (joined != null) {
      try {
        joined.connection().askToFinish();
      } catch (IOException lost) {
        joined.connection().close();
      }
      if (answers.awaitEndOrShared()) {
        return;
      }
      settle(answers.end().orElseThrow());
    }
  }

  private void renewLeases() {
    try {
      for (; ; ) {
        Thread.sleep(RENEWAL_MILLIS);
        try {
          files.renewLease();
        } catch (IOException nextTime) {
          continue;
        }
      }
    } catch (InterruptedException stop) {
      return;
    }
  }
}
