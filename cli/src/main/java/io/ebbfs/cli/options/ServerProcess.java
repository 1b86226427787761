package io.ebbfs.cli.options;

/**
 * A command that is a server process: its messages go to a log and begin with its name. Exit code
 * 0: stopped by SIGTERM; 1: failed while it ran. A supervisor starts it again, unless the code is
 * {@link #EXIT_CONFIGURATION}.
 */
public interface ServerProcess {
  /** Wrong options or configuration: another start will not help. */
  int EXIT_CONFIGURATION = 2;

  /** The cluster has fewer failure domains than a policy asks for. */
  int EXIT_CLUSTER = 3;

  /** A port, a directory or a store cannot be used. */
  int EXIT_RESOURCE = 4;

  /** What the messages of this process begin with: {@code namenode}. */
  String messagePrefix();
}
