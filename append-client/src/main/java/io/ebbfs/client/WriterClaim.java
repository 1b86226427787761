package io.ebbfs.client;

import java.io.IOException;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The right of a process to append with an id of its own. The process that takes the right last has
 * it. Before a process sends records to a lane, it tells the lane in the name of the file of the
 * id; whoever takes the right renames this file, seals the lane, and finds in its ledger which
 * records are stored. So a process that has lost the right stores nothing any more: the lane that
 * it has told is sealed, and it cannot tell another one. Of one thread at a time.
 */
final class WriterClaim {
  /** Each attempt that fails is one of another process that does not. */
  private static final int MOST_ATTEMPTS = 100;

  private final LaneFiles files;
  private WriterName name;

  private WriterClaim(LaneFiles files, WriterName name) {
    this.files = files;
    this.name = name;
  }

  /** Takes the right, also from a process that has it. */
  static WriterClaim take(LaneFiles files, UUID writer) throws IOException {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Optional<WriterName> before = newest(files, writer);
      if (before.isEmpty()) {
        create(files, files.firstNameOf(writer));
        continue;
      }
      WriterName mine = before.get().takenOver(System.currentTimeMillis());
      if (files.rename(before.get().path(), mine.path())) {
        return new WriterClaim(files, mine);
      }
    }
    throw new IOException(
        "the id %s of a writer of %s could not be taken in %d attempts; other processes take it"
            .formatted(writer, files.path(), MOST_ATTEMPTS));
  }

  /** A process that died while it created the first name may have left it behind. */
  private static Optional<WriterName> newest(LaneFiles files, UUID writer) throws IOException {
    return files.writers(Optional.of(writer)).stream()
        .max(Comparator.comparingLong(WriterName::version));
  }

  /** Another process may have created the first name, and have renamed it, since we looked. */
  private static void create(LaneFiles files, WriterName first) throws IOException {
    if (files.createEmptyFile(first.path())
        && newest(files, first.writer()).filter(first::equals).isEmpty()) {
      files.namenode().delete(first.path(), false);
    }
  }

  /**
   * The number of the first record that is not stored. Seals the lane in which the process before
   * may have stored records, unless that process has closed.
   */
  long nextRecord(LaneFinder finder, Deadline deadline) throws IOException, InterruptedException {
    if (name.lane().isEmpty()) {
      return name.nextRecord();
    }
    LaneName lane = name.lane().get();
    if (files.namenode().getFileInfo(lane.ledger()) == null) {
      throw new AppendException(
          ("the ledger %s is gone, which tells the last stored records of writer %s; a program of "
                  + "an earlier version may have removed it; look for these records in %s, and "
                  + "append with another id")
              .formatted(lane.ledger(), name.writer(), files.path()));
    }
    long sealed = finder.seal(lane, finder.awaitLane(lane), Optional.empty(), deadline);
    OptionalLong last =
        sealed == 0
            ? OptionalLong.empty()
            : files.readSealed(lane, sealed).lastRecord(name.writer(), sealed);
    return last.isPresent() ? Math.max(name.nextRecord(), last.getAsLong() + 1) : name.nextRecord();
  }

  /**
   * Tells the lane that the writer has joined. Only then may the writer send records to it. A lane
   * that was told before, and that the writer has joined again, needs no other name.
   *
   * @param nextRecord the number of the first record that is not stored
   * @return false if the ledger of the lane was removed before the lane was told: the lane has
   *     ended, and the writer needs another one
   * @throws AppendException if another process has taken the right
   */
  boolean enter(LaneName lane, long nextRecord) throws IOException {
    if (!name.lane().equals(Optional.of(lane))) {
      rename(name.inLane(lane, nextRecord));
    }
    if (files.namenode().getFileInfo(lane.ledger()) != null) {
      return true;
    }
    rename(name.withoutLane(nextRecord));
    return false;
  }

  /**
   * All records below {@code nextRecord} are stored, and no other one: whoever takes the right
   * after this process need not seal a lane.
   */
  void release(long nextRecord) {
    if (name.lane().isEmpty()) {
      return;
    }
    try {
      rename(name.withoutLane(nextRecord));
    } catch (IOException theNextProcessSealsTheLane) {
      return;
    }
  }

  private void rename(WriterName to) throws IOException {
    if (!files.rename(name.path(), to.path()) && files.namenode().getFileInfo(to.path()) == null) {
      throw new AppendException(
          ("another process has opened %s with the id %s of this writer, or the file was finished; "
                  + "only the process that opened last appends with an id")
              .formatted(files.path(), name.writer()));
    }
    name = to;
  }
}
