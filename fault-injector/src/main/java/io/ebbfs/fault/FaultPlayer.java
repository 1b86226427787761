package io.ebbfs.fault;

import io.ebbfs.fault.Timetable.Entry;
import io.ebbfs.fault.Timetable.Event;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Injects the faults of a timetable into a cluster, in a thread of its own that starts at once. A
 * fault that fails, for example because its server is down already, is recorded, and the other
 * faults go on. {@link #close} ends all faults that have not ended. Thread-safe. Nobody else may
 * use the injector.
 */
public final class FaultPlayer implements AutoCloseable {
  private static final long CLOSE_MILLIS = 60_000;

  /**
   * The record of a fault that began or ended.
   *
   * @param plannedMillis time of the timetable, after the start
   * @param atMillis time at which the injection began; {@code doneMillis} is its end
   * @param begins whether the fault began; otherwise it ended
   * @param blockIds blocks that lost a replica
   * @param error why the injection failed; null if it did not
   */
  public record Fired(
      long plannedMillis,
      long atMillis,
      long doneMillis,
      Entry entry,
      boolean begins,
      String what,
      List<Long> blockIds,
      String error) {}

  private final Timetable timetable;
  private final FaultInjector injector;
  private final long startNanos = System.nanoTime();
  private final Thread thread;
  private final List<Fired> fired = new ArrayList<>();

  /** The server or rack that was chosen at random, by entry. Only the thread uses it. */
  private final Map<Integer, Integer> chosen = new HashMap<>();

  private boolean closed;

  public FaultPlayer(Timetable timetable, FaultInjector injector) {
    this.timetable = timetable;
    this.injector = injector;
    this.thread = new Thread(this::play, "faults");
    this.thread.setDaemon(true);
    this.thread.start();
  }

  /** The records so far. */
  public synchronized List<Fired> fired() {
    return List.copyOf(fired);
  }

  /** Waits until the timetable is done; false if the time runs out before. */
  public boolean await(long timeoutMillis) throws InterruptedException {
    thread.join(Math.max(1, timeoutMillis));
    return !thread.isAlive();
  }

  @Override
  public void close() throws InterruptedException {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    thread.join(CLOSE_MILLIS);
    if (thread.isAlive()) {
      throw new IllegalStateException(
          "a fault is still being made after %d s: see the logs of the cluster's processes"
              .formatted(CLOSE_MILLIS / 1_000));
    }
  }

  private void play() {
    TreeSet<Integer> open = new TreeSet<>();
    try {
      for (Event event : timetable.events()) {
        if (!awaitTime(event.atMillis())) {
          break;
        }
        fire(event, open);
      }
      for (int entry : List.copyOf(open)) {
        if (ends(entry)) {
          fire(new Event(elapsed(), entry, false), open);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean ends(int entry) {
    Entry of = timetable.entries().get(entry);
    return of.forMillis() > 0 || of.fault() == Fault.FLAP;
  }

  private synchronized boolean awaitTime(long atMillis) throws InterruptedException {
    for (long left = atMillis - elapsed(); left > 0 && !closed; left = atMillis - elapsed()) {
      wait(left);
    }
    return !closed;
  }

  private long elapsed() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  private void fire(Event event, TreeSet<Integer> open) throws InterruptedException {
    Entry entry = timetable.entries().get(event.entry());
    long begin = elapsed();
    Injected done = null;
    String error = null;
    try {
      done = event.begins() ? begin(event.entry(), entry) : end(event.entry(), entry);
      if (event.begins()) {
        open.add(event.entry());
      } else {
        open.remove(event.entry());
      }
    } catch (IOException | ClusterException | RuntimeException e) {
      error = e.getMessage() == null ? e.toString() : e.getMessage();
      open.remove(event.entry());
    }
    Fired note =
        new Fired(
            event.atMillis(),
            begin,
            elapsed(),
            entry,
            event.begins(),
            done == null ? entry + " failed" : done.what(),
            done == null ? List.of() : done.blockIds(),
            error);
    synchronized (this) {
      fired.add(note);
    }
  }

  private Injected begin(int index, Entry entry)
      throws IOException, ClusterException, InterruptedException {
    String target = entry.target();
    boolean any = target.isEmpty();
    boolean path = target.startsWith("/");
    return switch (entry.fault()) {
      case BLOCK ->
          any
              ? injector.deleteBlock()
              : path ? injector.deleteBlock(target) : injector.deleteBlock(Long.parseLong(target));
      case CORRUPT ->
          any
              ? injector.corruptBlock()
              : path
                  ? injector.corruptBlock(target)
                  : injector.corruptBlock(Long.parseLong(target));
      case DISK -> {
        String[] disk = target.split("/");
        yield any
            ? injector.failDisk()
            : injector.failDisk(Integer.parseInt(disk[0]), Integer.parseInt(disk[1]));
      }
      case SERVER, FLAP -> injector.killServer(number(index, entry));
      case RACK -> injector.killRack(number(index, entry));
      case SLOW_LINK -> injector.slowLink(number(index, entry), entry.rate());
    };
  }

  private Injected end(int index, Entry entry) throws ClusterException, InterruptedException {
    int number = number(index, entry);
    return switch (entry.fault()) {
      case SERVER, FLAP -> injector.reviveServer(number);
      case RACK -> injector.reviveRack(number);
      case SLOW_LINK -> injector.restoreLink(number);
      case BLOCK, CORRUPT, DISK -> throw new IllegalStateException(entry + " does not end");
    };
  }

  /** The server or rack of an entry, the same for its begin and its end. */
  private int number(int index, Entry entry) throws ClusterException {
    if (!entry.target().isEmpty()) {
      return Integer.parseInt(entry.target());
    }
    Integer known = chosen.get(index);
    if (known == null) {
      known = entry.fault() == Fault.RACK ? injector.anyRack() : injector.anyRunningServer();
      chosen.put(index, known);
    }
    return known;
  }
}
