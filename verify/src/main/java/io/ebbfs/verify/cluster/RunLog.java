package io.ebbfs.verify.cluster;

import java.io.PrintStream;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;

/** What a run tells while it goes on: lines with the time of day. Thread-safe. */
public final class RunLog {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  private final PrintStream out;

  public RunLog(PrintStream out) {
    this.out = out;
  }

  /** One line with the time. */
  public void say(String format, Object... arguments) {
    out.println(LocalTime.now().format(TIME) + "  " + format.formatted(arguments));
  }
}
