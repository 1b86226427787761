package io.ebbfs.workloads.demo;

import java.io.PrintStream;
import java.util.Locale;

/** Prints phases, facts, and one progress bar at a time. Thread-safe. */
final class DemoConsole {
  private static final int BAR = 30;

  private final PrintStream out;
  private final boolean terminal;
  private long lastDrawnMillis;
  private boolean barShown;

  DemoConsole(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  synchronized void line(String format, Object... arguments) {
    clearBar();
    out.println(format(format, arguments));
    out.flush();
  }

  synchronized void phase(int number, String title) {
    line("");
    line("%d. %s", number, title);
  }

  /** Draws the bar, ten times a second at most. Draws nothing if the output is no terminal. */
  synchronized void progress(String what, long done, long of, String detail) {
    long now = System.currentTimeMillis();
    if (!terminal || (done < of && now - lastDrawnMillis < 100)) {
      return;
    }
    lastDrawnMillis = now;
    int filled = of == 0 ? BAR : (int) (done * BAR / of);
    out.print(
        format(
            "\r\033[K   %-22s [%s%s] %3d%%  %s",
            what,
            "#".repeat(filled),
            "-".repeat(BAR - filled),
            of == 0 ? 100 : done * 100 / of,
            detail));
    out.flush();
    barShown = true;
  }

  private void clearBar() {
    if (barShown) {
      out.print("\r\033[K");
      barShown = false;
    }
  }

  static String bytes(long bytes) {
    if (bytes < 1 << 10) {
      return bytes + " B";
    }
    if (bytes < 1 << 20) {
      return format("%.1f KiB", bytes / 1024.0);
    }
    return bytes < 1L << 30
        ? format("%.1f MiB", bytes / 1048576.0)
        : format("%.2f GiB", bytes / 1073741824.0);
  }

  static String format(String format, Object... arguments) {
    return arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments);
  }
}
