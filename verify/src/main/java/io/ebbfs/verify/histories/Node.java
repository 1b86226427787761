package io.ebbfs.verify.histories;

/**
 * A file or directory as a client sees it.
 *
 * @param id the inode id; {@link #UNKNOWN} if no client has been told it
 * @param length bytes; 0 for a directory
 */
record Node(boolean directory, long id, long length) {
  static final long UNKNOWN = 0;

  static Node newDirectory() {
    return new Node(true, UNKNOWN, 0);
  }

  static Node file(long id) {
    return new Node(false, id, 0);
  }

  Node longer() {
    return new Node(directory, id, length + 1);
  }

  /** Whether both may be the same node at the same moment. */
  boolean agreesWith(Node other) {
    return directory == other.directory
        && length == other.length
        && (id == other.id || id == UNKNOWN || other.id == UNKNOWN);
  }

  @Override
  public String toString() {
    String name = id == UNKNOWN ? "?" : Long.toString(id);
    return directory ? "directory " + name : "file " + name + " of " + length + " bytes";
  }
}
