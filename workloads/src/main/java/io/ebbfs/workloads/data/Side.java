package io.ebbfs.workloads.data;

import io.ebbfs.testbed.process.ProcessUsage;
import java.io.IOException;

/**
 * A system and the clients that work on it.
 *
 * @param client whose work is measured
 * @param loader the client that stores the files before the measurement; its link has no rate
 */
record Side(ComparedSystem system, DataClient client, DataClient loader) implements AutoCloseable {
  /** What the processes have used so far. */
  record Usage(ProcessUsage client, ProcessUsage namenode, ProcessUsage servers) {
    Usage minus(Usage before) {
      return new Usage(
          client.minus(before.client),
          namenode.minus(before.namenode),
          servers.minus(before.servers));
    }

    ProcessUsage all() {
      return client.plus(namenode).plus(servers);
    }
  }

  String name() {
    return system.name();
  }

  /** Ends the clients. */
  @Override
  public void close() {
    client.close();
    loader.close();
  }

  Usage usage() throws IOException {
    return new Usage(
        ProcessUsage.of(client.process()),
        ProcessUsage.of(system.namenode()),
        ProcessUsage.of(system.servers()));
  }
}
