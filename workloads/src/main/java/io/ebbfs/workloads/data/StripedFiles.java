package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/** Files that the client itself encodes, by HDFS's policy RS-6-3. */
record StripedFiles(long bytes) implements RowGroup {
  private static final String POLICY = "RS-6-3-1024k";
  private static final BenchmarkRow WRITE = BenchmarkRow.stock("write, RS-6-3 by the client", 1);
  private static final BenchmarkRow READ = BenchmarkRow.stock("read, RS-6-3 by the client", 1);
  private static final BenchmarkRow DEGRADED =
      BenchmarkRow.stock("read, RS-6-3 by the client, a server dead", 1);

  @Override
  public String name() {
    return "striped";
  }

  @Override
  public List<BenchmarkRow> rows() {
    return List.of(WRITE, READ, DEGRADED);
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/striped/f", 1, bytes);
    DataClient client = side.client();
    client.makeDirectory("/striped", POLICY);
    recorder.add(WRITE, bytes, () -> client.write(files, 1, 1));
    recorder.add(READ, bytes, () -> client.read(files, 1));
    int server = FirstServer.of(side.system(), "/striped/f0");
    side.system().kill(server);
    try {
      recorder.add(DEGRADED, bytes, () -> client.read(files, 1));
    } finally {
      side.system().restart(server);
    }
    client.delete("/striped");
  }
}
