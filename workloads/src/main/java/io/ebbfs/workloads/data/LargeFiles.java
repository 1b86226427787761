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

  private BenchmarkRow row(String verb) {
    return BenchmarkRow.stock(
        "%s, %d replica%s".formatted(verb, replication, replication == 1 ? "" : "s"), clients);
  }

  @Override
  public List<BenchmarkRow> rows() {
    return List.of(row("write"), row("read"));
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/large/f", clients, bytes);
    DataClient client = side.client();
    recorder.add(row("write"), files.allBytes(), () -> client.write(files, replication, clients));
    recorder.add(row("read"), files.allBytes(), () -> client.read(files, clients));
    client.delete("/large");
  }
}
