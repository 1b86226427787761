package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A laboratory on this machine: a cluster whose chunk servers and clients have links of a given
 * rate. Exit code 0: done; 2: refused, with one message that says why and what to do.
 */
public final class LabMain {
  private static final String USAGE =
      """
      usage: lab up     [--servers 11] [--disks 6] [--rate 100mbit] [--block-size 4m] [--dir D]
             lab status [--dir D]
             lab dfs    ARGUMENTS    a stock 'hdfs dfs' where the clients are
             lab exec   COMMAND...   any command where the clients are
             lab down   [--dir D]    stops it and removes its network, its files and what a lab
                                     that was killed has left
      A network namespace for each chunk server, one for clients, one for the namenode, Kafka and
      the control plane. The links of servers and clients have the rate in each direction. Needs
      root. The directory is ~/.ebbfs-lab unless named.""";

  private static final Path HOME = Path.of(System.getProperty("user.home"), ".ebbfs-lab");

  private LabMain() {}

  /** Runs one command. */
  public static void main(String[] arguments) {
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
        case "status" ->
            System.out.print(
                new StatusReport(open(directory(Arguments.parse(options, List.of("dir"))))).text());
        case "dfs" -> {
          LocalCluster cluster = open(HOME);
          return inLab(cluster, cluster.stockClient().shell(options.toArray(String[]::new)));
        }
        case "exec" -> {
          return inLab(open(HOME), options);
        }
        default ->
            throw new ClusterException(
                (command.isEmpty()
                        ? "lab needs a command"
                        : "unknown command 'lab " + command + "'")
                    + "\n"
                    + USAGE);
      }
      return 0;
    } catch (ClusterException e) {
      System.err.println("error: " + e.getMessage());
      return 2;
    } catch (InterruptedException e) {
      System.err.println("error: interrupted; 'lab down' removes what was started");
      return 2;
    }
  }

  private static void up(List<String> options) throws ClusterException, InterruptedException {
    Arguments given =
        Arguments.parse(options, List.of("dir", "servers", "disks", "rate", "block-size"));
    Path directory = directory(given);
    if (LocalCluster.exists(directory)) {
      throw new ClusterException(
          "%s holds a lab already: end it with 'lab down' first".formatted(directory));
    }
    ClusterSpec spec =
        ClusterSpec.of(directory)
            .withServers(given.number("servers", 11), given.number("disks", 6))
            .withBlockSize(given.bytes("block-size", 4L << 20));
    long start = System.nanoTime();
    LocalCluster cluster = Laboratory.start(Build.find(), spec, given.text("rate", "100mbit"));
    Lab lab = cluster.layout().lab();
    System.out.printf(
        "lab of %d servers with %d disks each is up after %.1f s in %s%n"
            + "  links        %s each way, of each server and of the clients%n"
            + "  file system  %s%n  dashboard    %s%n  clients      ebb lab exec COMMAND%n",
        spec.servers(),
        spec.disks(),
        (System.nanoTime() - start) / 1e9,
        directory,
        lab.rate(),
        cluster.stockClient().uri(),
        cluster.httpAddress());
  }

  private static void down(List<String> options) throws ClusterException, InterruptedException {
    Path directory = directory(Arguments.parse(options, List.of("dir")));
    Laboratory.Removed removed = Laboratory.remove(Build.find(), directory);
    System.out.printf(
        "lab in %s is down: %d processes stopped, its network and files removed%s%n",
        directory,
        removed.processes(),
        removed.abandoned() == 0
            ? ""
            : "; %d abandoned networks removed".formatted(removed.abandoned()));
  }

  private static int inLab(LocalCluster cluster, List<String> command)
      throws ClusterException, InterruptedException {
    if (command.isEmpty()) {
      throw new ClusterException("lab exec needs a command\n" + USAGE);
    }
    try {
      List<String> wrapped = cluster.layout().lab().clientCommand(command);
      return new ProcessBuilder(wrapped).inheritIO().start().waitFor();
    } catch (IOException e) {
      throw new ClusterException("'ip' could not be started: " + e, e);
    }
  }

  private static LocalCluster open(Path directory) throws ClusterException {
    return Laboratory.open(Build.find(), directory);
  }

  private static Path directory(Arguments given) {
    return Path.of(given.text("dir", HOME.toString())).toAbsolutePath().normalize();
  }
}
