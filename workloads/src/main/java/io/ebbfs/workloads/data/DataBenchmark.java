package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.DataResults;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Measures what files cost in EbbFS and in HDFS. Both run at the same time, one works, and the
 * other one is idle. Each round measures a group of rows on one system and directly afterwards on
 * the other; every other round has the opposite order.
 */
public final class DataBenchmark {
  /** The groups of rows, in the order of the report. */
  public static final List<String> GROUPS =
      List.of("replicated", "striped", "small", "random", "encoded", LossesByCode.NAME, "commands");

  /**
   * Those that are measured unless others are named: {@code losses} is meant for links of a rate.
   */
  public static final List<String> USUAL_GROUPS =
      List.of("replicated", "striped", "small", "random", "encoded", "commands");

  /** Those without waits for dead servers. */
  public static final List<String> QUICK_GROUPS =
      List.of("replicated", "striped", "small", "random", "commands");

  /** Those that are measured on links of a rate unless others are named. */
  public static final List<String> LINK_GROUPS = List.of("striped", LossesByCode.NAME);

  /** Those whose clients are processes of their own, which no link holds back. */
  public static final List<String> LOOPBACK_GROUPS = List.of("commands");

  private final Build build;
  private final DataOptions options;
  private final Path directory;
  private final PrintStream out;
  private final DataRuns runs = new DataRuns();
  private final DataEnvironment environment;

  /**
   * @param directory in which both systems keep their files
   * @param out for progress and the table
   */
  public DataBenchmark(Build build, DataOptions options, Path directory, PrintStream out)
      throws IOException, InterruptedException {
    this.build = build;
    this.options = options;
    this.directory = directory;
    this.out = out;
    this.environment = DataEnvironment.before(build, options);
  }

  /** Takes the figures after each group of rows, so that a run that ends early has some. */
  public interface Saver {
    void save(DataResults results) throws IOException;
  }

  /** Measures all rows, and prints them. */
  public void run(Saver saver) throws IOException, ClusterException, InterruptedException {
    Shape shape = options.shape();
    try (EbbfsSystem ebbfs = EbbfsSystem.start(build, directory.resolve("ebbfs"), shape);
        EndWithJvm ebbfsEnd = new EndWithJvm(directory.resolve("ebbfs"), ebbfs.network());
        HdfsSystem hdfs =
            HdfsSystem.start(build, directory.resolve("hdfs"), shape, ebbfs.network());
        EndWithJvm hdfsEnd = new EndWithJvm(directory.resolve("hdfs"), ebbfs.network())) {
      SharedLinks links = new SharedLinks(ebbfs.network(), shape.servers());
      try (Side ebbfsSide = side(ebbfs, nativeClient(ebbfs, links), links);
          Side hdfsSide = side(hdfs, null, links)) {
        measure(List.of(ebbfsSide, hdfsSide), links, saver);
      }
    }
    DataTable.print(results(), out);
    LinkTable.print(results(), out);
  }

  private void measure(List<Side> sides, SharedLinks links, Saver saver)
      throws IOException, ClusterException, InterruptedException {
    environment.seen(sides.get(1).client());
    LiveServers.await(sides, options.shape().servers());
    Meter meter = new Meter(sides, links);
    for (RowGroup group : groups()) {
      group.rows().forEach(runs::open);
      measure(group, sides, meter);
      saver.save(results());
    }
  }

  /** Without links of a rate, the stock client stores the files too. */
  private Side side(ComparedSystem system, DataClient nativeClient, SharedLinks links)
      throws IOException {
    DataClient client = client(system, "", links::behindLink);
    return new Side(
        system,
        client,
        nativeClient,
        links.areShaped() ? client(system, "-loader", links::unshaped) : client);
  }

  private DataClient client(ComparedSystem system, String suffix, UnaryOperator<List<String>> place)
      throws IOException {
    return DataClient.stock(build, system.client(), log(system, suffix), place);
  }

  private DataClient nativeClient(EbbfsSystem system, SharedLinks links)
      throws IOException, ClusterException {
    return DataClient.ofEbbfs(build, system.client(), log(system, "-native"), links::behindLink);
  }

  private Path log(ComparedSystem system, String suffix) throws IOException {
    return Files.createDirectories(directory.resolve("clients")).resolve(system.name() + suffix);
  }

  private List<RowGroup> groups() {
    DataOptions.Sizes sizes = options.sizes();
    List<RowGroup> all = new ArrayList<>();
    for (int replication : options.quick() ? List.of(3) : List.of(3, 1)) {
      all.add(new LargeFiles(replication, 1, sizes.largeBytes()));
      all.add(new LargeFiles(replication, 16, sizes.manyBytes()));
    }
    all.add(new StripedFiles(sizes.stripedBytes()));
    all.add(new SmallFileRows(sizes.smallFiles()));
    all.add(
        new RandomReads(sizes.manyBytes(), sizes.smallReads(), sizes.largeReads(), options.seed()));
    all.add(new LostParts(sizes.encodedFiles(), sizes.blockBytes()));
    all.add(new LossesByCode(sizes.blockBytes()));
    all.add(new CommandRows(build, directory.resolve("clients"), options.quick() ? 1 : 3));
    all.removeIf(group -> !options.groups().contains(group.name()));
    return all;
  }

  /**
   * Rounds without a record come first: they warm JVMs and make connections. A DataNode is compiled
   * well only after some gigabytes.
   */
  private void measure(RowGroup group, List<Side> sides, Meter meter)
      throws ClusterException, InterruptedException {
    int last = group.isLong() ? 1 : options.rounds();
    for (int round = group.isLong() ? 1 : 1 - options.warmUps(); round <= last; round++) {
      for (int turn = 0; turn < sides.size(); turn++) {
        measure(group, sides.get(Math.floorMod(turn + round, sides.size())), round, meter);
      }
    }
  }

  /** A failure of one system costs the rows of the group the figures of this system only. */
  private void measure(RowGroup group, Side side, int round, Meter meter)
      throws ClusterException, InterruptedException {
    if (group.rows().stream().anyMatch(row -> runs.hasFailed(row, side.name()))) {
      return;
    }
    RunRecorder recorder = new RunRecorder(runs, side, meter, round > 0, out);
    try {
      group.measure(side, round, recorder);
    } catch (IOException e) {
      recorder.fail(group, e);
    }
  }

  /** What was measured so far. */
  private DataResults results() throws IOException {
    return new DataResults(environment.after(), runs.rows());
  }
}
