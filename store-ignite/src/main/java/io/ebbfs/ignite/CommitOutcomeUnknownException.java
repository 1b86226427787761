package io.ebbfs.ignite;

import java.io.IOException;

/**
 * A node of the store, or the way to it, was lost while it committed: either all writes of the
 * transaction are there, or none. Whoever repeats the transaction must first read whether its
 * writes are there.
 */
public final class CommitOutcomeUnknownException extends IOException {
  private static final long serialVersionUID = 1;

  CommitOutcomeUnknownException(Throwable cause) {
    super(
        "a node of the metadata store was lost during a commit (%s); look whether the change was made before you repeat it"
            .formatted(cause.getMessage()),
        cause);
  }
}
