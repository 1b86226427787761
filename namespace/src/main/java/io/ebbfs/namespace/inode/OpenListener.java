package io.ebbfs.namespace.inode;

/** Is told when a client opens a file to read it. */
@FunctionalInterface
public interface OpenListener {
  /** Must return at once and must not throw. */
  void opened(long inodeId, String path, long timeMillis, String clientMachine);

  /** For where nobody wants to know. */
  OpenListener NONE = (inodeId, path, timeMillis, clientMachine) -> {};
}
