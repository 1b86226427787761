package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Measures work on one side while the other sides are idle. Not thread-safe. */
final class Meter {
  /** In ticks: user, nice, system, idle, iowait, irq, softirq, steal. */
  private static final Path STAT = Path.of("/proc/stat");

  private static final int IDLE = 3;
  private static final int WAITING = 4;
  private static final int STATES = 8;
  private static final double TICKS_PER_SECOND = 100;

  private final List<Side> sides;
  private final SharedLinks links;

  Meter(List<Side> sides, SharedLinks links) {
    this.sides = sides;
    this.links = links;
  }

  SharedLinks links() {
    return links;
  }

  /** Work of a client. */
  interface Work {
    DataClient.Timing run() throws IOException, ClusterException, InterruptedException;
  }

  Run measure(Side side, long bytes, Work work)
      throws IOException, ClusterException, InterruptedException {
    List<Side> idle = sides.stream().filter(other -> other != side).toList();
    double idleBefore = cpuSeconds(idle);
    double busyBefore = busySeconds(Files.readString(STAT));
    Side.Usage before = side.usage();
    SharedLinks.Received receivedBefore = links.received();
    long begin = System.nanoTime();
    DataClient.Timing timing = work.run();
    double seconds = (System.nanoTime() - begin) / 1e9;
    SharedLinks.Received received = links.since(receivedBefore);
    Side.Usage used = side.usage().minus(before);
    double idleUsed = cpuSeconds(idle) - idleBefore;
    double busy = busySeconds(Files.readString(STAT)) - busyBefore;
    double others = Math.max(0, busy - idleUsed - used.all().cpuSeconds());
    return new Run(
        bytes,
        timing.micros() / 1e6,
        timing.medianMicros() / 1e3,
        used,
        idleUsed / seconds,
        others / seconds,
        null,
        received,
        null);
  }

  private static double cpuSeconds(List<Side> sides) throws IOException {
    double sum = 0;
    for (Side side : sides) {
      sum += side.usage().all().cpuSeconds();
    }
    return sum;
  }

  /** Processor time of the whole machine, of which /proc/stat tells. */
  static double busySeconds(String stat) {
    String[] fields = stat.lines().findFirst().orElseThrow().strip().split(" +");
    long[] ticks = Arrays.stream(fields).skip(1).limit(STATES).mapToLong(Long::parseLong).toArray();
    return (Arrays.stream(ticks).sum() - ticks[IDLE] - ticks[WAITING]) / TICKS_PER_SECOND;
  }
}
