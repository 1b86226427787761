package io.ebbfs.verify.soak;

import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The model of one file: what clients asked for, what was acknowledged, and therefore what a reader
 * may find. The bytes follow from the seed, so only lengths are kept. An operation that failed at
 * the client is perhaps done, also later: its outcome stays open until somebody sees it.
 *
 * <p>Each change has two steps: the first before the request is sent, the second after its
 * acknowledgement. Thread-safe.
 */
final class SoakFile {
  private static final int HISTORY = 60;

  /**
   * What a reader may find at one moment.
   *
   * @param path the name; the old one, if a rename has an open outcome
   * @param otherPath the new name of a rename with an open outcome; null if there is none
   * @param mayBeAbsent whether its creation or deletion has an open outcome
   * @param gone whether it was deleted for sure
   * @param least bytes that were acknowledged
   * @param most bytes that were handed to a client
   * @param nameChanges renames and deletions that were begun so far
   */
  record Expectation(
      String path,
      String otherPath,
      boolean mayBeAbsent,
      boolean gone,
      long least,
      long most,
      int nameChanges) {
    /** Whether nothing about its name is open. */
    boolean isCertain() {
      return otherPath == null && !mayBeAbsent && !gone;
    }
  }

  private final long seed;
  private final Deque<String> history = new ArrayDeque<>();
  private String path;
  private String otherPath;
  private boolean mayBeAbsent = true;
  private boolean gone;
  private boolean closed;
  private long least;
  private long most;
  private int nameChanges;
  private boolean isReported;

  SoakFile(String path, long seed) {
    this.path = path;
    this.seed = seed;
  }

  long seed() {
    return seed;
  }

  synchronized Expectation expectation() {
    return new Expectation(path, otherPath, mayBeAbsent, gone, least, most, nameChanges);
  }

  /** Whether a client closed it, and nobody opened it for appending since. */
  synchronized boolean isClosed() {
    return closed;
  }

  // ---- bytes ------------------------------------------------------------------------------------

  synchronized void created() {
    mayBeAbsent = false;
  }

  /** It is about to be opened for appending. */
  synchronized void opening() {
    closed = false;
  }

  /** Bytes are about to be handed to a client. */
  synchronized void writing(long count) {
    most += count;
  }

  /** All bytes so far are acknowledged by hflush or hsync. */
  synchronized void flushed() {
    least = most;
  }

  /** All bytes so far are acknowledged by close. */
  synchronized void closed() {
    least = most;
    closed = true;
  }

  /**
   * After lease recovery the file is closed with this length, which is its length from now on.
   *
   * @return null, or what is wrong with the length
   */
  synchronized String recovered(long length) {
    String objection = objection(length, least, most);
    least = length;
    most = length;
    closed = true;
    return objection;
  }

  /** Names the fault of a length; null if the length is right. */
  static String objection(long length, long least, long most) {
    if (length < least) {
      return "has %d bytes, %d are acknowledged".formatted(length, least);
    }
    return length > most ? "has %d bytes, only %d were written".formatted(length, most) : null;
  }

  // ---- names ------------------------------------------------------------------------------------

  synchronized void renaming(String to) {
    otherPath = to;
    nameChanges++;
  }

  synchronized void renamed() {
    path = otherPath;
    otherPath = null;
  }

  synchronized void deleting() {
    mayBeAbsent = true;
    nameChanges++;
  }

  synchronized void deleted() {
    gone = true;
  }

  // ---- history ----------------------------------------------------------------------------------

  synchronized void note(String what) {
    if (history.size() == HISTORY) {
      history.removeFirst();
    }
    history.add(LocalTime.now().truncatedTo(ChronoUnit.MILLIS) + " " + what);
  }

  synchronized List<String> history() {
    return new ArrayList<>(history);
  }

  /** True at the first call: one finding for each file is enough. */
  synchronized boolean reportOnce() {
    boolean first = !isReported;
    isReported = true;
    return first;
  }

  @Override
  public synchronized String toString() {
    return path + (otherPath == null ? "" : " (perhaps " + otherPath + ")");
  }
}
