package io.ebbfs.namespace.simulation;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/** Runs many schedules: {@code ./ebb prove simulator}. Ends with 1 if a promise was broken. */
public final class SimulationMain {
  private static final String USAGE =
      """
      ./ebb prove simulator [--schedules N | --minutes M] [--seed S] [--steps N] [--threads N]
        runs schedules of random events and faults on the namenode's own classes, each of its own
        seed, and checks every promise after every step

        --schedules N   how many (default: 20000)
        --minutes M     as many as there is time for, instead
        --seed S        the first seed (default: 1); the next schedule has the next seed
        --steps N       most events in a schedule before it comes to rest (default: 40)
        --threads N     schedules at the same time (default: one for each processor)""";

  private record Options(long schedules, Duration limit, long seed, int steps, int threads) {
    static Options parse(String[] arguments) {
      long schedules = 20_000;
      Duration limit = null;
      long seed = 1;
      int steps = 40;
      int threads = Runtime.getRuntime().availableProcessors();
      for (int i = 0; i < arguments.length; i += 2) {
        if (i + 1 == arguments.length) {
          throw new IllegalArgumentException("no value for " + arguments[i]);
        }
        String value = arguments[i + 1];
        switch (arguments[i]) {
          case "--schedules" -> schedules = positive(arguments[i], value);
          case "--minutes" ->
              limit = Duration.ofMillis(Math.round(Double.parseDouble(value) * 60_000));
          case "--seed" -> seed = Long.parseLong(value);
          case "--steps" -> steps = (int) positive(arguments[i], value);
          case "--threads" -> threads = (int) positive(arguments[i], value);
          default -> throw new IllegalArgumentException("no option " + arguments[i]);
        }
      }
      return new Options(
          limit == null ? schedules : Long.MAX_VALUE - seed, limit, seed, steps, threads);
    }

    private static long positive(String option, String value) {
      long number = Long.parseLong(value);
      if (number < 1) {
        throw new IllegalArgumentException(option + " is " + value + ": give at least 1");
      }
      return number;
    }
  }

  private final Options options;
  private final Schedules schedules;
  private final AtomicLong done = new AtomicLong();
  private final long startedNanos = System.nanoTime();

  private SimulationMain(Options options) {
    this.options = options;
    schedules = new Schedules(options.seed(), options.schedules(), options.steps());
  }

  public static void main(String[] arguments) throws InterruptedException {
    Logger.getRootLogger().setLevel(Level.OFF);
    Options options;
    try {
      options = Options.parse(arguments);
    } catch (IllegalArgumentException e) {
      boolean asked = Arrays.asList(arguments).contains("--help");
      System.err.println(asked ? USAGE : "ebb: " + e.getMessage() + "\n" + USAGE);
      System.exit(asked ? 0 : 2);
      return;
    }
    System.exit(new SimulationMain(options).run() ? 0 : 1);
  }

  private boolean run() throws InterruptedException {
    Thread progress = new Thread(this::showProgress, "progress");
    progress.setDaemon(true);
    progress.start();
    schedules.run(
        options.threads(),
        () -> options.limit() != null && elapsedMillis() >= options.limit().toMillis(),
        seed -> done.incrementAndGet());
    progress.interrupt();
    progress.join();
    schedules.failure().ifPresent(failure -> failure.toError().printStackTrace(System.out));
    System.out.println(summary());
    return schedules.failure().isEmpty();
  }

  private long elapsedMillis() {
    return (System.nanoTime() - startedNanos) / 1_000_000;
  }

  // ---- what people see --------------------------------------------------------------------------

  private void showProgress() {
    boolean terminal = System.console() != null;
    try {
      while (true) {
        Thread.sleep(terminal ? 1_000 : 30_000);
        System.out.print((terminal ? "\r\033[K" : "") + progress() + (terminal ? "" : "\n"));
        System.out.flush();
      }
    } catch (InterruptedException e) {
      System.out.print(terminal ? "\r\033[K" : "");
    }
  }

  private String progress() {
    double seconds = elapsedMillis() / 1000.0;
    double rate = done.get() / seconds;
    double left =
        options.limit() == null
            ? (options.schedules() - done.get()) / Math.max(rate, 1e-9)
            : options.limit().toSeconds() - seconds;
    return String.format(
        Locale.ROOT,
        "%d schedules, %.1f a second, %.0f s gone, %.0f s left",
        done.get(),
        rate,
        seconds,
        Math.max(0, left));
  }

  private String summary() {
    Tally tally = schedules.tally();
    double seconds = elapsedMillis() / 1000.0;
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%d schedules of up to %d steps, seeds %d to %d, in %.1f s: %.1f a second on %d threads, %.2f ms of CPU each%n",
            tally.of("schedules"),
            options.steps(),
            options.seed(),
            options.seed() + done.get() - 1,
            seconds,
            tally.of("schedules") / seconds,
            options.threads(),
            schedules.cpuNanos() / 1e6 / Math.max(1, done.get())));
    section(text, "transitions that ended", tally.below("ended "));
    section(text, "published after a failed attempt", tally.below("after a failed attempt "));
    section(text, "published, by code", tally.below("published "));
    section(text, "clients", tally.below("client "));
    section(text, "faults", tally.below("fault "));
    section(text, "schedules", tally.below("schedules "));
    text.append(
        String.format(
            Locale.ROOT,
            "%.1f rounds until rest%n",
            tally.of("rounds") / Math.max(1.0, tally.of("schedules"))));
    return text.toString();
  }

  private static void section(StringBuilder text, String title, Map<String, Long> counts) {
    if (!counts.isEmpty()) {
      text.append(title).append('\n');
      counts.forEach((what, count) -> text.append(String.format("  %,12d  %s%n", count, what)));
    }
  }
}
