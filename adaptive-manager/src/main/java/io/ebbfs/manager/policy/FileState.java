package io.ebbfs.manager.policy;

/** Where a file stands between its writing and its code. */
public enum FileState {
  /** Open for writing. */
  UNDER_CONSTRUCTION,
  /** No policy matches its path: it stays replicated. */
  NO_POLICY,
  /** Written too recently: write-hot, stays replicated. */
  TOO_NEW,
  /** Empty, or below the policy's minimum size: stays replicated. */
  TOO_SMALL,
  /** Due for encoding; the reason says what it waits for. */
  WAITING,
  /** A transition encodes it. */
  ENCODING,
  FAST,
  COMPACT,
  /** In the only code of its policy, which it keeps. */
  ENCODED,
  /** Some blocks fast, some compact. */
  MIXED,
  /** In a code that its policy does not name. */
  OTHER_CODE,
  /**
   * The last encoding failed for good; it is tried again later, or once there is what it lacked.
   */
  FAILED
}
