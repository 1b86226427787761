package io.ebbfs.client;

import java.io.IOException;

/** The end of the patience of a writer. */
record Deadline(long nanos, long patienceMillis) {
  static Deadline in(long millis) {
    return new Deadline(System.nanoTime() + millis * 1_000_000, millis);
  }

  boolean isOver() {
    return System.nanoTime() - nanos > 0;
  }

  /** Fails if the time has come. */
  void check(String what, IOException cause) throws IOException {
    if (isOver()) {
      throw new AppendException("%s after %d ms".formatted(what, patienceMillis), cause);
    }
  }
}
