package io.ebbfs.verify.soak;

import java.util.List;

/**
 * A broken promise.
 *
 * @param kind which promise
 * @param what in one sentence, with the path and the values
 * @param history the operations on the file, the oldest first; empty if no file is concerned
 */
record Finding(Kind kind, String what, List<String> history) {
  /** The promises. */
  enum Kind {
    /** A reader got bytes, a length or a name that nobody wrote. */
    WRONG,
    /** Acknowledged bytes, or an acknowledged file, are gone. */
    LOST,
    /** Something does not end although nothing is broken any more, or a process ended by itself. */
    STUCK,
    /** A block is on a disk that the metadata does not know, or the other way round. */
    ORPHAN,
    /** A process, a descriptor or a connection is left over. */
    LEAKED
  }
}
