package io.ebbfs.verify.simulator;

import io.ebbfs.verify.cluster.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/** Runs many schedules of faults and shows how they go: {@code ./ebb verify simulator}. */
public final class SimulationRun {
  /** Most events in a schedule before it comes to rest, unless another number is asked for. */
  public static final int STEPS = 40;

  /** The same with several namenodes: shorter schedules, of which more run in the same time. */
  public static final int STEPS_OF_SEVERAL = 16;

  /**
   * The options of a run.
   *
   * @param schedules how many to run
   * @param limit after which no further schedule begins; empty for none
   * @param seed of the first schedule; the next schedule has the next seed
   * @param namenodes on one store; 1 has its store alone
   * @param steps most events in a schedule before it comes to rest
   * @param releases whether blocks also leave their stripes
   * @param threads schedules at the same time
   * @param json where the figures go, if anywhere
   */
  public record Options(
      long schedules,
      Optional<Duration> limit,
      long seed,
      int namenodes,
      int steps,
      boolean releases,
      int threads,
      Optional<Path> json) {}

  private final Options options;
  private final ScheduleRunner schedules;
  private final AtomicLong done = new AtomicLong();
  private final long startedNanos = System.nanoTime();

  public SimulationRun(Options options) {
    this.options = options;
    schedules =
        new ScheduleRunner(
            options.seed(),
            options.schedules(),
            new ScheduleRunner.Shape(options.namenodes(), options.steps(), options.releases()));
  }

  /** Whether every promise held; what broke is printed with its seed. */
  public boolean run() throws InterruptedException, IOException {
    Logger.getRootLogger().setLevel(Level.OFF);
    Thread progress = new Thread(this::showProgress, "progress");
    progress.setDaemon(true);
    progress.start();
    schedules.run(
        options.threads(),
        () -> options.limit().filter(limit -> elapsedMillis() >= limit.toMillis()).isPresent(),
        seed -> done.incrementAndGet());
    progress.interrupt();
    progress.join();
    schedules.failure().ifPresent(failure -> failure.toError().printStackTrace(System.out));
    System.out.println(summary());
    RunFiles.write(options.json(), figures());
    return schedules.failure().isEmpty();
  }

  private long elapsedMillis() {
    return (System.nanoTime() - startedNanos) / 1_000_000;
  }

  // ---- output -----------------------------------------------------------------------------------

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
        options
            .limit()
            .map(limit -> limit.toSeconds() - seconds)
            .orElse((options.schedules() - done.get()) / Math.max(rate, 1e-9));
    return String.format(
        Locale.ROOT,
        "%d schedules, %.1f a second, %.0f s gone, %.0f s left",
        done.get(),
        rate,
        seconds,
        Math.max(0, left));
  }

  private Map<String, Object> figures() {
    double seconds = elapsedMillis() / 1000.0;
    EventCounts events = schedules.events();
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("seed", options.seed());
    figures.put("namenodes", options.namenodes());
    figures.put("steps", options.steps());
    figures.put("threads", options.threads());
    figures.put("schedules", events.of("schedules"));
    figures.put("seconds", seconds);
    figures.put("schedulesPerSecond", events.of("schedules") / seconds);
    figures.put("cpuMillisEach", schedules.cpuNanos() / 1e6 / Math.max(1, done.get()));
    figures.put("faults", events.below("fault "));
    figures.put("violations", schedules.failure().isPresent() ? 1 : 0);
    schedules
        .failure()
        .ifPresent(
            failure -> {
              figures.put("violationText", failure.cause().toString());
              figures.put("replay", failure.replay());
            });
    return figures;
  }

  private String summary() {
    EventCounts events = schedules.events();
    double seconds = elapsedMillis() / 1000.0;
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%d schedules of up to %d steps, seeds %d to %d, in %.1f s: %.1f a second on %d"
                + " threads, %.2f ms of CPU each%n",
            events.of("schedules"),
            options.steps(),
            options.seed(),
            options.seed() + done.get() - 1,
            seconds,
            events.of("schedules") / seconds,
            options.threads(),
            schedules.cpuNanos() / 1e6 / Math.max(1, done.get())));
    section(text, "transitions that ended", events.below("ended "));
    section(text, "published after a failed attempt", events.below("after a failed attempt "));
    section(text, "published, by code", events.below("published "));
    section(text, "clients", events.below("client "));
    section(text, "faults", events.below("fault "));
    section(text, "schedules", events.below("schedules "));
    text.append(
        String.format(
            Locale.ROOT,
            "%.1f rounds until rest%n",
            events.of("rounds") / Math.max(1.0, events.of("schedules"))));
    return text.toString();
  }

  private static void section(StringBuilder text, String title, Map<String, Long> counts) {
    if (!counts.isEmpty()) {
      text.append(title).append('\n');
      counts.forEach((what, count) -> text.append(String.format("  %,12d  %s%n", count, what)));
    }
  }
}
