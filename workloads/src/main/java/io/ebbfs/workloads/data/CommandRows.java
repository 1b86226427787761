package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.StockClient;
import io.ebbfs.workloads.data.DataClient.FileSet;
import io.ebbfs.workloads.data.DataClient.Timing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Commands of users, each in a process of its own: what a person waits for. */
final class CommandRows implements RowGroup {
  private static final String STOCK = "hdfs dfs";
  private static final String NATIVE = "ebb fs, hdfs dfs";
  private static final String GOAL = "milliseconds";
  private static final String DIRECTORY = "/commands";
  private static final int BYTES = 4096;

  private final Build build;
  private final Path local;
  private final int commandsPerRound;

  /**
   * @param local an existing directory for the files that are copied
   */
  CommandRows(Build build, Path local, int commandsPerRound) {
    this.build = build;
    this.local = local;
    this.commandsPerRound = commandsPerRound;
  }

  @Override
  public String name() {
    return "commands";
  }

  private enum Verb {
    STAT("-stat"),
    LIST("-ls"),
    PUT("-put of 4 KiB"),
    GET("-get of 4 KiB");

    private final String label;

    Verb(String label) {
      this.label = label;
    }
  }

  private static BenchmarkRow row(Verb verb, String client) {
    return new BenchmarkRow(verb.label, client, GOAL);
  }

  @Override
  public List<BenchmarkRow> rows() {
    List<BenchmarkRow> rows = new ArrayList<>();
    for (Verb verb : Verb.values()) {
      rows.add(row(verb, STOCK));
      rows.add(row(verb, NATIVE));
    }
    return rows;
  }

  @Override
  public void measure(Side side, int round, Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    side.client().write(new FileSet(DIRECTORY + "/f", 1, BYTES), 3, 1);
    byte[] content = new byte[BYTES];
    new Random(round).nextBytes(content);
    Path source = Files.write(local.resolve(side.name() + "-source"), content);
    for (Verb verb : Verb.values()) {
      Run stock = recorder.add(row(verb, STOCK), 0, () -> commands(side, verb, source, false));
      boolean ebbfs = side.name().equals(ComparedSystem.EBBFS);
      if (!ebbfs) {
        recorder.add(row(verb, NATIVE), stock);
      } else {
        recorder.add(row(verb, NATIVE), 0, () -> commands(side, verb, source, true));
      }
    }
    side.client().delete(DIRECTORY);
  }

  private Timing commands(Side side, Verb verb, Path source, boolean ebbFs)
      throws IOException, ClusterException, InterruptedException {
    long[] micros = new long[commandsPerRound];
    long whole = 0;
    for (int i = 0; i < commandsPerRound; i++) {
      long begin = System.nanoTime();
      command(side, verb, source, ebbFs);
      micros[i] = (System.nanoTime() - begin) / 1000;
      whole += micros[i];
    }
    java.util.Arrays.sort(micros);
    return new Timing(whole, micros[commandsPerRound / 2]);
  }

  private void command(Side side, Verb verb, Path source, boolean ebbFs)
      throws IOException, ClusterException, InterruptedException {
    Path target = local.resolve(side.name() + "-target");
    Files.deleteIfExists(target);
    String[] words =
        switch (verb) {
          case STAT -> new String[] {"-stat", DIRECTORY + "/f0"};
          case LIST -> new String[] {"-ls", DIRECTORY};
          case PUT -> new String[] {"-put", "-f", source.toString(), DIRECTORY + "/put"};
          case GET -> new String[] {"-get", DIRECTORY + "/put", target.toString()};
        };
    run(line(side.system().client(), words, ebbFs), side.system().client().conf());
    if (verb == Verb.GET && Files.mismatch(source, target) >= 0) {
      throw new IOException("-get gives other bytes than -put took: " + target);
    }
  }

  private List<String> line(StockClient client, String[] words, boolean ebbFs)
      throws ClusterException {
    if (!ebbFs) {
      return client.shell(words);
    }
    List<String> line = new ArrayList<>(List.of(build.nativeShell().toString()));
    line.addAll(List.of(words));
    return line;
  }

  private void run(List<String> line, Path conf) throws IOException, InterruptedException {
    Path output = local.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("HADOOP_CONF_DIR", conf.toString());
    int code = builder.start().waitFor();
    if (code != 0) {
      // The words before these are the JVM and its class path.
      List<String> words = line.subList(Math.max(0, line.size() - 4), line.size());
      throw new IOException(
          "%s ended with %d: %s".formatted(words, code, Files.readString(output)));
    }
  }
}
