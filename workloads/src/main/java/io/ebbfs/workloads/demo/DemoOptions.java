package io.ebbfs.workloads.demo;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/**
 * What the command line of the demo asks for.
 *
 * @param directory whose files are stored
 * @param keep leaves the cluster up at the end
 * @param output where demo-report.json and demo-report.html go
 * @param httpPort of the dashboard; 0 for any free one
 */
record DemoOptions(
    Path directory,
    boolean keep,
    Path output,
    Path clusterDirectory,
    int servers,
    int disks,
    int httpPort,
    long seed) {
  static final String USAGE =
      """
      usage: ebb demo [DIR] [--keep] [--dir DIR] [--output DIR] [--seed N] [--http-port N]
        DIR            the files to store (default: the local Maven repository)
        --keep         leave the cluster up and print the dashboard's address
        --dir DIR      where the cluster lives meanwhile (default: .ebb/demo of the project)
        --output DIR   where demo-report.json and demo-report.html go (default: here)
        --seed N       another choice of what is read and what is broken
        --http-port N  of the dashboard (default: any free port)
      """;

  /** Parses the command line; says what is wrong with it in a DemoException. */
  static DemoOptions parse(List<String> arguments, Path home) {
    Path directory = null;
    boolean keep = false;
    Path output = Path.of("").toAbsolutePath();
    Path cluster = home.resolve(".ebb/demo");
    long seed = 1;
    int httpPort = 0;
    Iterator<String> left = arguments.iterator();
    while (left.hasNext()) {
      String argument = left.next();
      switch (argument) {
        case "--keep" -> keep = true;
        case "--dir" -> cluster = Path.of(value(argument, left)).toAbsolutePath();
        case "--output" -> output = Path.of(value(argument, left)).toAbsolutePath();
        case "--seed" -> seed = number(argument, value(argument, left));
        case "--http-port" -> httpPort = (int) number(argument, value(argument, left));
        default -> {
          if (argument.startsWith("-") || directory != null) {
            throw new DemoException("unknown argument '%s'\n%s".formatted(argument, USAGE));
          }
          directory = Path.of(argument).toAbsolutePath().normalize();
        }
      }
    }
    if (directory == null) {
      directory = Path.of(System.getProperty("user.home"), ".m2", "repository");
    }
    return new DemoOptions(directory, keep, output, cluster, 12, 6, httpPort, seed);
  }

  private static String value(String option, Iterator<String> left) {
    if (!left.hasNext()) {
      throw new DemoException("%s needs a value\n%s".formatted(option, USAGE));
    }
    return left.next();
  }

  private static long number(String option, String value) {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new DemoException("%s takes a number, not '%s'".formatted(option, value));
    }
  }
}
