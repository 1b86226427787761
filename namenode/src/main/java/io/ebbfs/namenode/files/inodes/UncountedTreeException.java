package io.ebbfs.namenode.files.inodes;

import java.io.IOException;

/**
 * A directory moves into a counted directory or out of one, and what lies in it is not counted yet.
 * The caller has it counted, and moves it then.
 */
public final class UncountedTreeException extends IOException {
  private static final long serialVersionUID = 1;

  private final long directoryId;

  public UncountedTreeException(long directoryId) {
    super("what lies in directory " + directoryId + " is not counted yet");
    this.directoryId = directoryId;
  }

  public long directoryId() {
    return directoryId;
  }

  /** The exception is part of normal work, so it records no stack trace. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
