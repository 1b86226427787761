package io.ebbfs.namenode.store;

import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;

/**
 * A quota would be exceeded, but the sums still hold something that is deleted. {@link
 * OptimisticTransactions} waits for a while, and runs the transaction again.
 */
public final class DeletionsPendingException extends IOException {
  private static final long serialVersionUID = 1;

  private final QuotaExceededException exceeded;

  DeletionsPendingException(QuotaExceededException exceeded) {
    super(exceeded.getMessage(), exceeded);
    this.exceeded = exceeded;
  }

  /** What a client hears if the wait does not help. */
  QuotaExceededException exceeded() {
    return exceeded;
  }

  /** The exception is part of normal work, so it records no stack trace. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
