package io.ebbfs.verify.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;

/**
 * Shows which seeds find each planted bug, as a table: {@code ./ebb verify simulator --planted}.
 * The bugs are in the simulator's own classes and in decorators of the namenode's interfaces.
 */
public final class PlantedBugTable {
  private static final int SEEDS_SHOWN = 3;

  private final long firstSeed;
  private final long schedules;
  private final int steps;
  private final Map<PlantedBug, List<Long>> found = new EnumMap<>(PlantedBug.class);

  /**
   * @param schedules the most for each bug
   * @param steps most events in a schedule
   */
  public PlantedBugTable(long firstSeed, long schedules, int steps) {
    this.firstSeed = firstSeed;
    this.schedules = schedules;
    this.steps = steps;
  }

  /** Runs schedules for each bug until some have found it. Returns whether every bug is found. */
  public boolean run(int threads) throws InterruptedException {
    Logger.getRootLogger().setLevel(Level.OFF);
    Queue<PlantedBug> bugs = new ConcurrentLinkedQueue<>(Arrays.asList(PlantedBug.values()));
    bugs.remove(PlantedBug.NONE);
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Thread thread = new Thread(() -> take(bugs), "planted-" + t);
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join();
    }
    System.out.println("| planted bug | what it does | seeds that find it |");
    System.out.println("|---|---|---|");
    found.forEach((bug, list) -> System.out.println(row(bug, list)));
    return found.values().stream().noneMatch(List::isEmpty);
  }

  private void take(Queue<PlantedBug> bugs) {
    for (PlantedBug bug = bugs.poll(); bug != null; bug = bugs.poll()) {
      List<Long> list = find(bug);
      synchronized (this) {
        found.put(bug, list);
      }
    }
  }

  private List<Long> find(PlantedBug bug) {
    List<Long> list = new ArrayList<>();
    for (long seed = firstSeed; seed < firstSeed + schedules && list.size() < SEEDS_SHOWN; seed++) {
      ScheduleRunner run =
          new ScheduleRunner(seed, 1, new ScheduleRunner.Shape(bug.namenodes(), steps), bug);
      run.runHere();
      run.failure().ifPresent(failure -> list.add(failure.seed()));
    }
    return list;
  }

  private String row(PlantedBug bug, List<Long> list) {
    return "| `%s` | %s | %s |"
        .formatted(
            bug,
            bug.what(),
            list.isEmpty()
                ? "none of %d to %d".formatted(firstSeed, firstSeed + schedules - 1)
                : list.stream().map(String::valueOf).collect(Collectors.joining(", ")));
  }
}
