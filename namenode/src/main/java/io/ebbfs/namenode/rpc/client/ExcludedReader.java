package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ExcludedServers;
import io.ebbfs.namenode.datanodes.HostLists;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** Reads what the files of an operator say about servers. Thread-safe. */
@FunctionalInterface
public interface ExcludedReader {
  /**
   * Reads the files as they are now.
   *
   * @throws IOException with a message for the operator
   */
  HostLists read() throws IOException;

  /**
   * Reads files; refuses if the configuration names none.
   *
   * @param excludeFile names of servers to drain; blank for none
   * @param includeFile names of the only servers that may register; blank for none
   * @param hostsFile the states of servers in JSON, instead of the other two; blank for none
   */
  static ExcludedReader of(String excludeFile, String includeFile, String hostsFile) {
    return () -> {
      if (!hostsFile.isBlank()) {
        return HostLists.readJson(Path.of(hostsFile)).withAddresses();
      }
      if (excludeFile.isBlank() && includeFile.isBlank()) {
        throw new IOException(
            "excludeFile is not set in namenode.yaml, nor are hostsFile and includeFile, so no file"
                + " names servers to drain: set it and restart the namenode, or drain servers by"
                + " the dashboard or 'ebb admin evict'");
      }
      return new HostLists(
              includeFile.isBlank() ? Set.of() : ExcludedServers.read(Path.of(includeFile)).names(),
              excludeFile.isBlank()
                  ? ExcludedServers.NONE
                  : ExcludedServers.read(Path.of(excludeFile)),
              Map.of())
          .withAddresses();
    };
  }
}
