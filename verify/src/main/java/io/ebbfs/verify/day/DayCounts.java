package io.ebbfs.verify.day;

import io.ebbfs.verify.cluster.RunLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/** What the clients have done, and what went wrong. Errors are told as they come. Thread-safe. */
final class DayCounts {
  private static final int KEPT = 40;

  /**
   * The words of the namenode, of a chunk server and of the operating system for a full disk, and
   * those of a stock client that several pipelines in a row have refused: the client drops the
   * reasons of the servers.
   */
  private static final Pattern NO_SPACE =
      Pattern.compile(
          "no disk with \\d+ bytes free|No space left|NO_SPACE|Unable to create new block");

  private final RunLog log;
  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong readErrors = new AtomicLong();
  private final AtomicLong writeErrors = new AtomicLong();
  private final AtomicLong refusedWrites = new AtomicLong();
  private final List<String> errors = new ArrayList<>();
  private volatile boolean disksMayBeFull;

  DayCounts(RunLog log) {
    this.log = log;
  }

  void done() {
    operations.incrementAndGet();
  }

  void readError(String what) {
    readErrors.incrementAndGet();
    note("read error: " + what);
  }

  void writeError(String what) {
    writeErrors.incrementAndGet();
    note("write error: " + what);
  }

  /** Tells whether some disks may be full from now on. */
  void disksMayBeFull(boolean mayBe) {
    disksMayBeFull = mayBe;
  }

  /**
   * A write has failed.
   *
   * @return whether it was refused because the disks are full, which is no error while they may be
   */
  boolean writeFailed(String path, Throwable error) {
    if (disksMayBeFull && saysNoSpace(error)) {
      refusedWrites.incrementAndGet();
      return true;
    }
    writeError("%s: %s".formatted(path, error));
    return false;
  }

  private synchronized void note(String what) {
    log.say("%s", what);
    if (errors.size() < KEPT) {
      errors.add(what);
    }
  }

  long operations() {
    return operations.get();
  }

  long readErrors() {
    return readErrors.get();
  }

  long writeErrors() {
    return writeErrors.get();
  }

  long refusedWrites() {
    return refusedWrites.get();
  }

  synchronized List<String> errors() {
    return List.copyOf(errors);
  }

  /** Whether the message of an error, or of one of its causes, says that disks are full. */
  static boolean saysNoSpace(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (NO_SPACE.matcher(String.valueOf(cause.getMessage())).find()) {
        return true;
      }
    }
    return false;
  }
}
