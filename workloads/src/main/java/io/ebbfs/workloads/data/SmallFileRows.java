package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/** Many files of 64 KiB, with three replicas. */
record SmallFileRows(int count) implements RowGroup {
  private static final int BYTES = 64 << 10;
  private static final int CLIENTS = 16;
  private static final BenchmarkRow WRITE = BenchmarkRow.stock("write files of 64 KiB", CLIENTS);
  private static final BenchmarkRow READ = BenchmarkRow.stock("read files of 64 KiB", CLIENTS);

  @Override
  public String name() {
    return "small";
  }

  @Override
  public List<BenchmarkRow> rows() {
    return List.of(WRITE, READ);
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/small/f", count, BYTES);
    DataClient client = side.client();
    recorder.add(WRITE, files.allBytes(), () -> client.write(files, 3, CLIENTS));
    recorder.add(READ, files.allBytes(), () -> client.read(files, CLIENTS));
    client.delete("/small");
  }
}
