package io.ebbfs.ignite;

import io.ebbfs.namenode.store.OutcomeUnknownException;

/** A node of the store, or the way to it, was lost while it committed. */
public final class CommitOutcomeUnknownException extends OutcomeUnknownException {
  private static final long serialVersionUID = 1;

  CommitOutcomeUnknownException(Throwable cause) {
    super(
        "a node of the metadata store was lost during a commit (%s); look whether the change was made before you repeat it"
            .formatted(cause.getMessage()),
        cause);
  }
}
