package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Starts, stops and shows a cluster on this machine. Exit code 0: done; 2: refused, with one
 * message that says why and what to do.
 */
public final class ClusterMain {
  private static final String USAGE =
      """
      usage: up     [--dir D] [--servers N] [--disks N] [--racks N] [--block-size B] [--port P]
                    [--http-port P] [--heartbeat-millis M] [--fail-points] [--codes FILE]
             down   [--dir D]
             status [--dir D]
             dfs    [--dir D] ARGUMENTS    a stock 'hdfs dfs' against it
      The directory is ~/.ebbfs unless named. --port is the namenode's (8020), the others follow:
      Kafka +1 and +2, HTTP +3, chunk server i +100+2i and +101+2i; 0 means any free ports.""";
  private static final List<String> LAYOUT_OPTIONS =
      List.of("servers", "disks", "block-size", "heartbeat-millis");

  private ClusterMain() {}

  /** Runs one command. */
  public static void main(String[] arguments) {
    // Before Hadoop's classes look for it.
    if (System.getProperty("log4j.configuration") == null) {
      System.setProperty("log4j.configuration", "io/ebbfs/cluster/log4j.properties");
    }
    System.exit(run(Arrays.asList(arguments)));
  }

  static int run(List<String> arguments) {
    try {
      String command = arguments.isEmpty() ? "" : arguments.get(0);
      List<String> options = arguments.subList(Math.min(1, arguments.size()), arguments.size());
      switch (command) {
        case "up" -> up(options);
        case "down" -> down(options);
        case "dfs" -> {
          return dfs(options);
        }
        case "status" -> System.out.print(new StatusReport(open(options)).text());
        default -> throw new ClusterException("unknown command '" + command + "'\n" + USAGE);
      }
      return 0;
    } catch (ClusterException e) {
      System.err.println("error: " + e.getMessage());
      return 2;
    } catch (InterruptedException e) {
      System.err.println("error: interrupted; everything started was stopped again");
      return 2;
    }
  }

  private static void up(List<String> options) throws ClusterException, InterruptedException {
    List<String> valued = new ArrayList<>(options);
    boolean failPoints = valued.remove("--fail-points");
    Arguments given =
        Arguments.parse(
            valued,
            List.of(
                "dir",
                "servers",
                "disks",
                "block-size",
                "port",
                "http-port",
                "heartbeat-millis",
                "racks",
                "codes"));
    Path directory = directory(given);
    long start = System.nanoTime();
    LocalCluster cluster =
        LocalCluster.exists(directory) ? reopen(directory, given) : create(directory, given);
    if (failPoints) {
      cluster.withFailPoints();
    }
    cluster.start();
    System.out.printf(
        "cluster of %d servers with %d disks each is up after %.1f s in %s%n"
            + "  file system  %s%n  dashboard    %s%n",
        cluster.layout().servers(),
        cluster.layout().disks(),
        (System.nanoTime() - start) / 1e9,
        directory,
        cluster.stockClient().uri(),
        cluster.httpAddress());
  }

  private static LocalCluster create(Path directory, Arguments given) throws ClusterException {
    ClusterSpec base = ClusterSpec.of(directory);
    return LocalCluster.create(
        Build.find(),
        base.withServers(
                given.number("servers", base.servers()), given.number("disks", base.disks()))
            .withRacks(given.number("racks", base.racks()))
            .withBlockSize(given.bytes("block-size", base.blockSizeBytes()))
            .withPorts(given.number("port", base.port()), optional(given, "http-port"))
            .withHeartbeat(given.number("heartbeat-millis", (int) base.heartbeatMillis()))
            .withConfFiles(codes(given)));
  }

  /** The user's codes in place of the example, which defines none. */
  private static Map<String, String> codes(Arguments given) throws ClusterException {
    if (!given.has("codes")) {
      return Map.of();
    }
    Path file = Path.of(given.text("codes", ""));
    try {
      return Map.of("codes.yaml", Files.readString(file));
    } catch (IOException e) {
      throw new ClusterException(
          "--codes %s cannot be read (%s): name a file like conf/codes.yaml".formatted(file, e), e);
    }
  }

  private static LocalCluster reopen(Path directory, Arguments given) throws ClusterException {
    if (given.has("racks")) {
      throw new ClusterException(
          "--racks is for a new cluster: edit %s of this one, which is read at once"
              .formatted(directory.resolve("topology")));
    }
    if (given.has("codes")) {
      throw new ClusterException(
          "--codes is for a new cluster: edit %s of this one and start it again"
              .formatted(directory.resolve("conf").resolve("codes.yaml")));
    }
    LocalCluster cluster = LocalCluster.open(Build.find(), directory);
    Layout layout = cluster.layout();
    List<Long> has =
        List.of(
            (long) layout.servers(),
            (long) layout.disks(),
            layout.blockSizeBytes(),
            layout.heartbeatMillis());
    for (int i = 0; i < has.size(); i++) {
      long wanted = given.bytes(LAYOUT_OPTIONS.get(i), has.get(i));
      if (wanted != has.get(i)) {
        throw new ClusterException(
            "--%s %d: the cluster in %s was made with %d; leave the option out, or make another"
                    .formatted(LAYOUT_OPTIONS.get(i), wanted, directory, has.get(i))
                + " cluster with --dir");
      }
    }
    if (cluster.running().isEmpty()) {
      cluster.movePorts(optional(given, "port"), optional(given, "http-port"));
    }
    return cluster;
  }

  private static Integer optional(Arguments given, String name) throws ClusterException {
    return given.has(name) ? (Integer) given.number(name, 0) : null;
  }

  private static void down(List<String> options) throws ClusterException, InterruptedException {
    LocalCluster cluster = open(options);
    int running = cluster.running().size();
    cluster.stop();
    System.out.printf(
        "cluster in %s is down: %d processes stopped%n", cluster.directory(), running);
  }

  /** The stock shell, on this terminal; its exit code is ours. */
  private static int dfs(List<String> options) throws ClusterException, InterruptedException {
    boolean named = options.size() >= 2 && options.get(0).equals("--dir");
    LocalCluster cluster = open(named ? options.subList(0, 2) : List.of());
    List<String> arguments = named ? options.subList(2, options.size()) : options;
    List<String> command = cluster.stockClient().shell(arguments.toArray(String[]::new));
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor();
    } catch (IOException e) {
      throw new ClusterException("the stock client could not be started: " + e, e);
    }
  }

  private static LocalCluster open(List<String> options) throws ClusterException {
    return LocalCluster.open(Build.find(), directory(Arguments.parse(options, List.of("dir"))));
  }

  private static Path directory(Arguments given) {
    Path home = Path.of(System.getProperty("user.home"), ".ebbfs");
    return Path.of(given.text("dir", home.toString())).toAbsolutePath().normalize();
  }
}
