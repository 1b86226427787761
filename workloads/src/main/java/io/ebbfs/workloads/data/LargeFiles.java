package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/** Writes and reads of large replicated files, a file for each client. */
record LargeFiles(int replication, int clients, long bytes) implements RowGroup {
  @Override
  public String name() {
    return "replicated";
  }

  private ClientWork work(String verb, String nativeRatio) {
    return ClientWork.ahead(
        "%s, %d replica%s".formatted(verb, replication, replication == 1 ? "" : "s"),
        clients,
        nativeRatio);
  }

  private ClientWork write() {
    return work("write", "2");
  }

  private ClientWork read() {
    return work("read", "1.4");
  }

  @Override
  public List<BenchmarkRow> rows() {
    return ClientWork.rows(List.of(write(), read()));
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/large/f", clients, bytes);
    ClientTurns.take(
        side,
        round,
        recorder,
        (client, turn) -> {
          turn.add(write(), files.allBytes(), () -> client.write(files, replication, clients));
          turn.add(read(), files.allBytes(), () -> client.read(files, clients));
          client.delete("/large");
        });
  }
}
