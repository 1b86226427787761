package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.MetadataStore.TransactionBody;
import java.io.IOException;

/** Transactions that read first, lock, and start again if what they read has changed. */
public final class Retrying {
  private static final int ATTEMPTS = 100;

  private Retrying() {}

  /** Something that is worth another attempt if what it read was stale. */
  @FunctionalInterface
  public interface Attempt<R> {
    R run() throws IOException;
  }

  /** A synced transaction, repeated while its body throws {@link StaleReadException}. */
  public static <R> R transact(MetadataStore store, long hint, TransactionBody<R> body)
      throws IOException {
    return repeat(() -> store.transact(hint, Durability.SYNCED, body));
  }

  public static <R> R repeat(Attempt<R> attempt) throws IOException {
    StaleReadException last = null;
    for (int i = 0; i < ATTEMPTS; i++) {
      try {
        return attempt.run();
      } catch (StaleReadException e) {
        last = e;
      }
    }
    throw new IOException(
        "gave up after %d attempts, other clients change the same rows: %s; try again"
            .formatted(ATTEMPTS, last.getMessage()),
        last);
  }
}
