package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/** Files that the client itself encodes, by HDFS's policy RS-6-3. */
record StripedFiles(long bytes) implements RowGroup {
  private static final String POLICY = "RS-6-3-1024k";
  private static final ClientWork WRITE = ClientWork.ahead("write, RS-6-3 by the client", 1, "5");
  private static final ClientWork READ = ClientWork.ahead("read, RS-6-3 by the client", 1, "1.4");
  private static final ClientWork DEGRADED =
      ClientWork.ahead("read, RS-6-3 by the client, a server dead", 1);

  @Override
  public String name() {
    return "striped";
  }

  @Override
  public List<BenchmarkRow> rows() {
    return ClientWork.rows(List.of(WRITE, READ, DEGRADED));
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    ClientTurns.take(side, round, recorder, (client, turn) -> measure(side, client, turn));
  }

  private void measure(Side side, DataClient client, ClientTurns.Measured turn)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/striped/f", 1, bytes);
    client.makeDirectory("/striped", POLICY);
    turn.add(WRITE, bytes, () -> client.write(files, 1, 1));
    turn.add(READ, bytes, () -> client.read(files, 1));
    int server = FirstServer.of(side.system(), "/striped/f0");
    side.system().kill(server);
    try {
      turn.add(DEGRADED, bytes, () -> client.read(files, 1));
    } finally {
      side.system().restart(server);
    }
    client.delete("/striped");
  }
}
