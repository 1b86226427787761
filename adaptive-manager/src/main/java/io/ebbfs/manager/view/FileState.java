package io.ebbfs.manager.view;

/** The state of a file on its way from replicas to a code. */
public enum FileState {
  /** Open for writing. */
  UNDER_CONSTRUCTION,
  /** No policy matches path, owner and group: the file stays replicated. */
  NO_POLICY,
  /** Written too recently (write-hot): the file stays replicated. */
  TOO_NEW,
  /** Empty, or below the policy's minimum size: the file stays replicated. */
  TOO_SMALL,
  /** Its user wants replicas: the file is not encoded. */
  PINNED,
  /** Its client has encoded the file, and the policy leaves it so. */
  CLIENT_STRIPED,
  /** Due for encoding; the reason tells what the file waits for. */
  WAITING,
  /** A transition encodes the file. */
  ENCODING,
  FAST,
  COMPACT,
  /** Encoded in the single code of its policy, which the file keeps. */
  ENCODED,
  /** Some blocks are in the fast code, some in the compact code. */
  MIXED,
  /** Encoded in a code that its policy does not name. */
  OTHER_CODE,
  /**
   * The last encoding failed after all attempts. It is proposed again later, or as soon as the
   * cluster has the servers, disks or space that were missing.
   */
  FAILED
}
