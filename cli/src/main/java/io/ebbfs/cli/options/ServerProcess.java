package io.ebbfs.cli.options;

/** A command that is a server process: its messages go to a log and begin with its name. */
public interface ServerProcess {
  /** What the messages of this process begin with: {@code namenode}. */
  String messagePrefix();
}
