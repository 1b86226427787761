package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/** Many files of 64 KiB, with three replicas. */
record SmallFileRows(int count) implements RowGroup {
  private static final int BYTES = 64 << 10;
  private static final int CLIENTS = 16;
  private static final ClientWork WRITE = ClientWork.ahead("write files of 64 KiB", CLIENTS, "2");
  private static final ClientWork READ = ClientWork.ahead("read files of 64 KiB", CLIENTS, "1.4");

  @Override
  public String name() {
    return "small";
  }

  @Override
  public List<BenchmarkRow> rows() {
    return ClientWork.rows(List.of(WRITE, READ));
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/small/f", count, BYTES);
    ClientTurns.take(
        side,
        round,
        recorder,
        (client, turn) -> {
          turn.add(WRITE, files.allBytes(), () -> client.write(files, 3, CLIENTS));
          turn.add(READ, files.allBytes(), () -> client.read(files, CLIENTS));
          client.delete("/small");
        });
  }
}
