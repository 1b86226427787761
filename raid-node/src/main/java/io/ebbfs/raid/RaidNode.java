package io.ebbfs.raid;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.http.PrometheusText;
import io.ebbfs.common.http.StatusServer;
import io.ebbfs.protocol.rpc.NamenodeAddresses;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.executor.DaemonThreads;
import io.ebbfs.raid.executor.ExecutorResources;
import io.ebbfs.raid.executor.Throttle;
import io.ebbfs.raid.mapreduce.JobRunner;
import io.ebbfs.raid.scrub.ParityScrubber;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps executors running, which claim and run transitions, and runs the parity scrub. Executors
 * are the maps of two MapReduce jobs. Each job lives for a while; the second job is half a life
 * behind the first, so that executors work while the other job ends and begins again. No transition
 * waits for a job to start. A raid-node keeps no state that matters: after its death the claims of
 * its executors end, and others claim the transitions. Thread-safe.
 */
public final class RaidNode implements StatusServer.State, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RaidNode.class);
  private static final long CLOSE_MILLIS = 10_000;
  private static final long SCRUB_LOOK_MILLIS = 10_000;
  private static final long JOB_PAUSE_MILLIS = 5_000;

  private final RaidConfig config;
  private final ExecutorResources resources;
  private final JobRunner jobs;
  private final ParityScrubber scrub;
  private final List<Thread> threads = new ArrayList<>();
  private final long startNanos = System.nanoTime();

  /** The latest error of each loop, by the loop's name. */
  private final Map<String, String> troubles = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /**
   * A raid-node that is not started yet. It closes the resources when it is closed.
   *
   * @param data a directory of its own for the files of jobs
   * @param namenodes host:port, separated by commas, for executors in another JVM
   * @param key for executors in another JVM
   * @param resources of the scrub and of executors in this JVM
   */
  public RaidNode(
      RaidConfig config,
      CodeRegistry codes,
      Path data,
      String namenodes,
      ServiceKey key,
      ExecutorResources resources)
      throws IOException {
    this.config = config;
    this.resources = resources;
    this.jobs = new JobRunner(config, data, namenodes, key, resources);
    this.scrub =
        new ParityScrubber(
            config.scrub(),
            codes,
            resources::coding,
            resources.chunks(),
            new Throttle(config.scrub().stripesPerSecond(), System::nanoTime, Thread::sleep),
            resources.bytes(),
            Clock.systemUTC());
  }

  /** A raid-node that talks to the namenodes and their chunk servers over Hadoop RPC. */
  public static RaidNode overRpc(
      RaidConfig config, CodeRegistry codes, Path data, NamenodeAddresses namenodes, ServiceKey key)
      throws IOException {
    return new RaidNode(
        config,
        codes,
        data,
        namenodes.toString(),
        key,
        ExecutorResources.connect(config, namenodes, key));
  }

  /** Starts executors and scrub. */
  public void start() {
    for (int i = 0; i < RaidConfig.JOBS_AT_ONCE; i++) {
      int turn = i;
      threads.add(DaemonThreads.of(() -> jobLoop(turn), "raid-job-" + i));
    }
    if (config.scrub().periodMillis() > 0) {
      threads.add(DaemonThreads.of(this::scrubLoop, "raid-scrub"));
    }
    threads.forEach(Thread::start);
  }

  /** Ready while the latest attempt to run jobs and scrub did not fail. */
  @Override
  public Optional<String> notReady() {
    return troubles.entrySet().stream()
        .findFirst()
        .map(trouble -> trouble.getKey() + ": " + trouble.getValue());
  }

  @Override
  public String metrics() {
    return new PrometheusText()
        .gauge("ebbfs_raid_troubles", "Loops whose latest attempt failed", troubles.size())
        .withProcess()
        .toString();
  }

  // ---- the jobs ---------------------------------------------------------------------------------

  private void jobLoop(int turn) {
    String loop = "executors " + turn;
    while (!closed) {
      long life = lifeMillis(millisSince(startNanos), turn, config.executorLifeMillis());
      long begun = System.nanoTime();
      try {
        JobRunner.End end = jobs.run(life);
        LOG.info("executors of {} ended: {}", end.id(), end.counters());
        troubles.remove(loop);
        if (millisSince(begun) < life) {
          LOG.warn("executors of {} ended before their time: {}", end.id(), end.failure());
          Thread.sleep(JOB_PAUSE_MILLIS);
        }
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
        warnOnce(loop, e);
        if (!pause(JOB_PAUSE_MILLIS)) {
          return;
        }
      }
    }
  }

  /**
   * The life of a job that begins now. The jobs of a turn end at the multiples of the configured
   * life, later by the turn's share of it: so the turns never end together, however late a job has
   * begun.
   *
   * @param nowMillis since the raid-node started
   */
  static long lifeMillis(long nowMillis, int turn, long life) {
    long late = turn * life / RaidConfig.JOBS_AT_ONCE;
    long left = life - Math.floorMod(nowMillis - late, life);
    // A job that would soon end stays for a further life.
    return left < life / 4 ? left + life : left;
  }

  private static long millisSince(long nanoTime) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanoTime);
  }

  // ---- the scrub --------------------------------------------------------------------------------

  private void scrubLoop() {
    String loop = "scrub";
    while (!closed) {
      try {
        long wait = scrub.step();
        troubles.remove(loop);
        // Looks again soon: another raid-node may run the pass, or somebody may set the clock.
        Thread.sleep(Math.min(wait, SCRUB_LOOK_MILLIS));
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
        warnOnce(loop, e);
        if (!pause(config.pollMillis())) {
          return;
        }
      }
    }
  }

  /** The same error is logged once, not at every try. */
  private void warnOnce(String loop, Exception e) {
    String before = troubles.put(loop, e.toString());
    if (!closed && !e.toString().equals(before)) {
      LOG.warn("{}: {}; trying again", loop, e.toString());
    }
  }

  /** False if the thread is interrupted meanwhile. */
  private static boolean pause(long millis) {
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  /** Kills the jobs. The claims of unfinished transitions end after their lease. */
  @Override
  public void close() throws IOException {
    closed = true;
    threads.forEach(Thread::interrupt);
    try {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
      for (Thread thread : threads) {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    jobs.close();
    resources.close();
  }
}
