package io.ebbfs.common.failpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The directory in which fail points are armed. An armed point is a file with the name of the point
 * and the content of an {@link Armed}. The first process that passes the point takes the file away
 * and does the action in it. Without a directory a point costs one comparison. Thread-safe, also
 * among processes.
 */
public final class FailPoints {
  /** The environment variable with the directory; without it a process has no fail points. */
  public static final String DIRECTORY = "EBBFS_FAIL_POINTS";

  /** The environment variable with the name of the process, for points armed for one process. */
  public static final String PROCESS = "EBBFS_PROCESS";

  /** The suffix of the file that a point leaves behind when it has fired. */
  public static final String FIRED = ".fired";

  static final FailPoints OF_THIS_PROCESS =
      new FailPoints(
          System.getenv(DIRECTORY) == null ? null : Path.of(System.getenv(DIRECTORY)),
          System.getenv(PROCESS) == null ? "" : System.getenv(PROCESS),
          () -> Runtime.getRuntime().halt(137));

  private static final AtomicLong TAKEN = new AtomicLong();

  private final Path directory;
  private final String process;
  private final Runnable kill;

  /**
   * The fail points of a process.
   *
   * @param directory where points are armed; null for none
   * @param kill ends the process at once
   */
  FailPoints(Path directory, String process, Runnable kill) {
    this.directory = directory;
    this.process = process;
    this.kill = kill;
  }

  void reach(String point) {
    if (directory != null && Files.exists(directory.resolve(point))) {
      fire(point);
    }
  }

  private void fire(String point) {
    Path file = directory.resolve(point);
    Armed armed;
    try {
      armed = Armed.parse(Files.readString(file));
      if (!armed.process().isEmpty() && !armed.process().equals(process)) {
        return;
      }
      Path taken =
          directory.resolve(
              "." + point + "." + ProcessHandle.current().pid() + "." + TAKEN.incrementAndGet());
      Files.move(file, taken, StandardCopyOption.ATOMIC_MOVE);
      if (armed.skip() > 0) {
        Files.writeString(taken, armed.skippedOnce().text());
        Files.move(taken, file, StandardCopyOption.ATOMIC_MOVE);
        return;
      }
      Files.writeString(taken, armed.text() + "by " + process + "\n");
      Files.move(taken, directory.resolve(point + FIRED), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      return; // another thread or process was faster
    }
    System.err.printf("fail point %s of '%s': %s%n", point, process, armed.action());
    act(point, armed);
  }

  private void act(String point, Armed armed) {
    switch (armed.action()) {
      case KILL -> kill.run();
      case ERROR ->
          throw new UncheckedIOException(
              new IOException("fail point " + point + " was armed as an error"));
      case STALL -> {
        try {
          Thread.sleep(Duration.ofSeconds(armed.stallSeconds()).toMillis());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** What the process does at an armed point. */
  public enum Action {
    /** Ends at once, as by SIGKILL. */
    KILL,
    /** The operation goes on after some seconds. */
    STALL,
    /** The operation fails. */
    ERROR
  }

  /**
   * The content of a file that arms a point: lines of a word and a value, all optional: {@code
   * action kill}, {@code stall SECONDS} or {@code error}; {@code process NAME}; {@code skip N}.
   *
   * @param process the name of the process that fires; empty for any process
   * @param skip how often the point is passed before it fires
   */
  public record Armed(Action action, long stallSeconds, String process, int skip) {
    /** The first process that passes dies. */
    public static final Armed KILL = new Armed(Action.KILL, 0, "", 0);

    /** The same, armed for one process only. */
    public Armed in(String name) {
      return new Armed(action, stallSeconds, name, skip);
    }

    /** The same, to fire after this number of passes. */
    public Armed after(int passes) {
      return new Armed(action, stallSeconds, process, passes);
    }

    Armed skippedOnce() {
      return after(skip - 1);
    }

    /** Reads the content of a file. */
    public static Armed parse(String text) throws IOException {
      Armed armed = KILL;
      for (String line : text.lines().toList()) {
        String[] words = line.strip().split("\\s+", 2);
        String value = words.length == 2 ? words[1] : "";
        armed =
            switch (words[0]) {
              case "", "kill", "by" -> armed;
              case "error" -> new Armed(Action.ERROR, 0, armed.process, armed.skip);
              case "stall" ->
                  new Armed(Action.STALL, number(line, value), armed.process, armed.skip);
              case "process" -> armed.in(value);
              case "skip" -> armed.after((int) number(line, value));
              default -> throw new IOException("'" + line + "' arms nothing");
            };
      }
      return armed;
    }

    private static long number(String line, String value) throws IOException {
      if (!value.matches("\\d{1,6}")) {
        throw new IOException("'" + line + "' has no number of 0 to 999999");
      }
      return Long.parseLong(value);
    }

    /** The content of the file. */
    public String text() {
      return (action == Action.STALL ? "stall " + stallSeconds : action.name().toLowerCase())
          + "\n"
          + (process.isEmpty() ? "" : "process " + process + "\n")
          + (skip == 0 ? "" : "skip " + skip + "\n");
    }
  }

  /** Arms a point in a directory. The file appears atomically. */
  public static void arm(Path directory, FailPoint point, Armed armed) throws IOException {
    Files.deleteIfExists(directory.resolve(point.pointName() + FIRED));
    Path draft = directory.resolve("." + point.pointName() + ".draft");
    Files.writeString(draft, armed.text());
    Files.move(draft, directory.resolve(point.pointName()), StandardCopyOption.ATOMIC_MOVE);
  }
}
