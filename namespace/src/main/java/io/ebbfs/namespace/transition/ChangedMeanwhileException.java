package io.ebbfs.namespace.transition;

import java.io.IOException;

/** Rows changed between being read and being locked: the transaction is to be run again. */
final class ChangedMeanwhileException extends IOException {
  private static final long serialVersionUID = 1;

  ChangedMeanwhileException(String message) {
    super(message);
  }
}
