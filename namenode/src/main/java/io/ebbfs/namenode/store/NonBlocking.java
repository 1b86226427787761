package io.ebbfs.namenode.store;

import java.io.IOException;

/**
 * Work on a thread that must not wait, such as an event loop. Within {@link #run}, whatever would
 * wait throws {@link WouldBlockException} instead, and the caller runs the work again elsewhere.
 *
 * <p>The first commit that writes ends the promise for the rest of the work: a repetition would not
 * see what the first run had decided. From then on the store may wait for a lock or for the disk.
 */
public final class NonBlocking {
  private static final ThreadLocal<NonBlocking> CURRENT = new ThreadLocal<>();

  private boolean committed;

  private NonBlocking() {}

  /** Work of a call. */
  @FunctionalInterface
  public interface Work<R> {
    R run() throws IOException;
  }

  /**
   * Runs the work.
   *
   * @throws WouldBlockException if the work would have waited
   */
  public static <R> R run(Work<R> work) throws IOException {
    if (CURRENT.get() != null) {
      return work.run();
    }
    CURRENT.set(new NonBlocking());
    try {
      return work.run();
    } finally {
      CURRENT.remove();
    }
  }

  /**
   * To be called before a wait of unknown length, and before work that takes long, such as the scan
   * of a large directory, by code whose callers may be repeated even after a commit.
   *
   * @throws WouldBlockException if this thread never waits
   */
  public static void beforeWait() {
    if (CURRENT.get() != null) {
      throw WouldBlockException.INSTANCE;
    }
  }

  /**
   * To be called by a store that waits for other machines, before a transaction.
   *
   * @throws WouldBlockException if this thread must not wait, and its work can be repeated
   */
  public static void beforeTransaction() {
    if (isActive()) {
      throw WouldBlockException.INSTANCE;
    }
  }

  /** Whether the present work must not wait: it is non-blocking, and it has not committed yet. */
  static boolean isActive() {
    NonBlocking current = CURRENT.get();
    return current != null && !current.committed;
  }

  /** Notes a commit of this thread. */
  static void noteCommit() {
    NonBlocking current = CURRENT.get();
    if (current != null) {
      current.committed = true;
    }
  }
}
