package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.data.DataClient.FileSet;
import java.io.IOException;
import java.util.List;

/**
 * Reads at random offsets of open files with three replicas.
 *
 * @param fileBytes of each of 16 files
 * @param smallReads of 4 KiB by one client
 * @param largeReads of 1 MiB by one client
 */
record RandomReads(long fileBytes, int smallReads, int largeReads, long seed) implements RowGroup {
  private static final int FILES = 16;
  private static final List<Kind> KINDS =
      List.of(
          new Kind("4 KiB", 4 << 10, 1),
          new Kind("4 KiB", 4 << 10, FILES),
          new Kind("1 MiB", 1 << 20, 1),
          new Kind("1 MiB", 1 << 20, FILES));

  private record Kind(String size, int bytes, int clients) {
    ClientWork work() {
      return ClientWork.ahead("random reads of " + size, clients, "1.4");
    }
  }

  @Override
  public String name() {
    return "random";
  }

  @Override
  public List<BenchmarkRow> rows() {
    return ClientWork.rows(KINDS.stream().map(Kind::work).toList());
  }

  private int reads(Kind kind) {
    return kind.bytes < 1 << 20
        ? smallReads * (kind.clients == 1 ? 1 : 4)
        : largeReads * (kind.clients == 1 ? 1 : 2);
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    ClientTurns.take(side, round, recorder, (client, turn) -> measure(client, round, turn));
  }

  private void measure(DataClient client, int round, ClientTurns.Measured turn)
      throws IOException, ClusterException, InterruptedException {
    FileSet files = new FileSet("/random/f", FILES, fileBytes);
    client.write(files, 3, FILES);
    for (Kind kind : KINDS) {
      int reads = reads(kind);
      turn.add(
          kind.work(),
          (long) reads * kind.bytes,
          () -> client.readParts(files, kind.clients, kind.bytes, reads, seed + round));
    }
    client.delete("/random");
  }
}
