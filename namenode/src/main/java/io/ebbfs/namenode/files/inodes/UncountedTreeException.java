package io.ebbfs.namenode.files.inodes;

import java.io.IOException;

/**
 * A directory moves into a counted directory or out of one, or gets a storage policy where bytes
 * count by type of storage, and what lies in it is not counted yet. The caller has it counted, and
 * changes it then.
 */
public final class UncountedTreeException extends IOException {
  private static final long serialVersionUID = 1;

  private final long directoryId;
  private final boolean types;

  /**
   * @param types whether the bytes must count by type of storage, too
   */
  public UncountedTreeException(long directoryId, boolean types) {
    super("what lies in directory " + directoryId + " is not counted yet");
    this.directoryId = directoryId;
    this.types = types;
  }

  public boolean types() {
    return types;
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
