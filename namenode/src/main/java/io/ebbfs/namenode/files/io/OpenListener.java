package io.ebbfs.namenode.files.io;

import io.ebbfs.namenode.files.inodes.FsPath;

/** Gets an event for each file that a client opens for reading. */
@FunctionalInterface
public interface OpenListener {
  /** Must return at once and must not throw. */
  void opened(long inodeId, FsPath path, long timeMillis, String clientMachine);

  /** Ignores the events. */
  OpenListener NONE = (inodeId, path, timeMillis, clientMachine) -> {};
}
