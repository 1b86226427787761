package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ExcludedServers;
import java.io.IOException;
import java.nio.file.Path;

/** Reads which servers an operator has excluded. Thread-safe. */
@FunctionalInterface
public interface ExcludedReader {
  /**
   * Reads the list as it is now.
   *
   * @throws IOException with a message for the operator
   */
  ExcludedServers read() throws IOException;

  /** Reads a file; refuses if the configuration names none. */
  static ExcludedReader of(String file) {
    return () -> {
      if (file.isBlank()) {
        throw new IOException(
            "excludeFile is not set in namenode.yaml, so no file names servers to drain: set it and restart the namenode, or drain servers by the dashboard");
      }
      return ExcludedServers.read(Path.of(file));
    };
  }
}
