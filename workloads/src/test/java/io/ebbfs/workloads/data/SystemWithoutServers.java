package io.ebbfs.workloads.data;

import io.ebbfs.testbed.cluster.StockClient;
import io.ebbfs.testbed.process.ProcessId;
import java.nio.file.Path;
import java.util.List;

/** A system without processes, for tests of what the benchmark does around a system. */
record SystemWithoutServers(String name) implements ComparedSystem {
  @Override
  public StockClient client() {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<ProcessId> namenode() {
    return List.of();
  }

  @Override
  public List<ProcessId> servers() {
    return List.of();
  }

  @Override
  public List<Integer> transferPorts() {
    return List.of();
  }

  @Override
  public void kill(int server) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void restart(int server) {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<Path> disks(int server) {
    return List.of();
  }

  @Override
  public void close() {}
}
