package io.ebbfs.verify.histories;

/**
 * A call of a client on a round's directory.
 *
 * @param path the path below the directory, such as "d/a"; empty for the directory itself
 * @param target the destination of a rename, the inode id of a close; empty for other verbs
 */
record Call(Verb verb, String path, String target) {
  enum Verb {
    /** Makes a directory and its missing parents. */
    MKDIRS,
    /** Makes an empty file; refused if the path exists or its parent does not. */
    CREATE,
    /** Opens a file for append, which changes nothing. */
    OPEN,
    /** Writes a byte to the file that the client has opened, wherever it is now, and closes it. */
    CLOSE,
    /** Renames; refused if the destination exists. */
    RENAME,
    /** Renames; a file or an empty directory at the destination is replaced. */
    RENAME_OVER,
    /** Deletes a file or an empty directory. */
    DELETE,
    STAT,
    LIST
  }

  static Call of(Verb verb, String path) {
    return new Call(verb, path, "");
  }

  @Override
  public String toString() {
    String name = verb.name().toLowerCase(java.util.Locale.ROOT);
    return name + " '" + path + "'" + (target.isEmpty() ? "" : " to '" + target + "'");
  }
}
