package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.MetadataStore.TransactionBody;
import java.io.IOException;
import java.io.InterruptedIOException;

/**
 * Transactions that read, lock and read again, and that run again after a {@link
 * StaleReadException}. Example: a rename resolves a path without locks; if another client moves the
 * file before the lock is held, the rename starts anew. Stateless.
 */
public final class OptimisticTransactions {
  private static final int MAX_ATTEMPTS = 200;
  private static final int ATTEMPTS_AT_ONCE = 3;
  private static final int MOST_PAUSE_MILLIS = 50;

  private OptimisticTransactions() {}

  /** How many calls of this process wait for room in a quota now. */
  public static int waitingForRoom() {
    return RoomWait.waiting();
  }

  /** Work that may run again after a {@link StaleReadException}. */
  @FunctionalInterface
  public interface Attempt<R> {
    R run() throws IOException;
  }

  /** A synced transaction that runs again while its body throws {@link StaleReadException}. */
  public static <R> R transact(MetadataStore store, long partitionHint, TransactionBody<R> body)
      throws IOException {
    return transact(store, partitionHint, Durability.SYNCED, body);
  }

  /** A transaction that runs again while its body throws {@link StaleReadException}. */
  public static <R> R transact(
      MetadataStore store, long partitionHint, Durability durability, TransactionBody<R> body)
      throws IOException {
    return repeat(() -> store.transact(partitionHint, durability, body));
  }

  /**
   * Runs an attempt until it sees no stale row, and waits a few seconds for room in a quota if what
   * is deleted still takes some, as {@link RoomWait} bounds it. For attempts that do some work,
   * such as drawing ids, outside of their transaction.
   *
   * @throws IOException if the attempt fails, or if every attempt sees a stale row
   */
  public static <R> R repeat(Attempt<R> attempt) throws IOException {
    return repeat(attempt, MAX_ATTEMPTS);
  }

  static <R> R repeat(Attempt<R> attempt, int mostAttempts) throws IOException {
    StaleReadException last = null;
    int i = 0;
    try (RoomWait room = new RoomWait()) {
      while (i < mostAttempts) {
        try {
          return attempt.run();
        } catch (StaleReadException e) {
          last = e;
          i++;
          pause(i);
        } catch (DeletionsPendingException e) {
          room.await(e);
        }
      }
    }
    throw new IOException(
        "gave up after %d attempts, because other clients change the same rows: %s; try again"
            .formatted(mostAttempts, last.getMessage()),
        last);
  }

  /**
   * Waits for the rest of a commit. Rows of a shared store that belong to the commit of a namenode
   * that is silent may be seen one by one for seconds.
   */
  private static void pause(int attempts) throws IOException {
    if (attempts < ATTEMPTS_AT_ONCE) {
      return;
    }
    NonBlocking.beforeWait();
    try {
      Thread.sleep(Math.min(MOST_PAUSE_MILLIS, 1L << Math.min(attempts - ATTEMPTS_AT_ONCE, 10)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while other clients changed the same rows");
    }
  }
}
