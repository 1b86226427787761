package io.ebbfs.namenode.store;

/**
 * A thread that never waits ({@link NonBlocking}) came to work that may wait: a lock that another
 * transaction holds, a row on the disk. Its transaction has written nothing. The caller runs the
 * same work again on a thread that may wait.
 *
 * <p>It is unchecked, so that no handler of {@link java.io.IOException} swallows it.
 */
public final class WouldBlockException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** There is one exception, without a stack trace, because it is part of normal work. */
  static final WouldBlockException INSTANCE = new WouldBlockException();

  private WouldBlockException() {
    super("this work may wait, and this thread never waits", null, false, false);
  }
}
