package io.ebbfs.namenode.tasks.commit;

import java.io.IOException;

/** A commit that must not be: nothing of it is written, and the transition is planned anew. */
final class CommitRefusedException extends IOException {
  private static final long serialVersionUID = 1;

  CommitRefusedException(String message) {
    super(message);
  }
}
