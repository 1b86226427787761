package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessUsage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A system and the clients that work on it.
 *
 * @param client the stock client whose work is measured
 * @param nativeClient whose work is measured as well; null for HDFS
 * @param loader the client that stores the files before the measurement; its link has no rate
 */
record Side(ComparedSystem system, DataClient client, DataClient nativeClient, DataClient loader)
    implements AutoCloseable {
  /**
   * What the processes have used so far.
   *
   * @param client both clients whose work is measured, of which one is idle
   */
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

  /** The bytes of blocks on the disks of all servers. */
  long blockBytes() throws ClusterException, IOException {
    long sum = 0;
    for (int server = 0; server < system.transferPorts().size(); server++) {
      sum += BlocksOnDisk.bytes(system.disks(server));
    }
    return sum;
  }

  /** Ends the clients. */
  @Override
  public void close() {
    client.close();
    loader.close();
    if (nativeClient != null) {
      nativeClient.close();
    }
  }

  private List<ProcessId> clientProcesses() {
    List<ProcessId> processes = new ArrayList<>(client.process());
    if (nativeClient != null) {
      processes.addAll(nativeClient.process());
    }
    return processes;
  }

  Usage usage() throws IOException {
    return new Usage(
        ProcessUsage.of(clientProcesses()),
        ProcessUsage.of(system.namenode()),
        ProcessUsage.of(system.servers()));
  }
}
