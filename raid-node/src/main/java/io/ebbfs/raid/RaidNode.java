package io.ebbfs.raid;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.channel.RpcChunkChannel;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.executor.CombineLimiter;
import io.ebbfs.raid.executor.DaemonThreads;
import io.ebbfs.raid.executor.ParallelCalls;
import io.ebbfs.raid.executor.Throttle;
import io.ebbfs.raid.executor.TransitionExecutor;
import io.ebbfs.raid.mapreduce.ClaimedBatch;
import io.ebbfs.raid.mapreduce.JobHistory;
import io.ebbfs.raid.mapreduce.JobRunner;
import io.ebbfs.raid.mapreduce.JobStatus;
import io.ebbfs.raid.scrub.ParityScrubber;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims transitions in batches and runs each batch as a MapReduce job. A job claims more
 * transitions when its maps are done. Repairs and conversions have a queue each, with two jobs at a
 * time, so that no repair waits for a conversion. A raid-node keeps no state that matters: after
 * its death its claims expire, and another raid-node claims the transitions. Thread-safe.
 */
public final class RaidNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RaidNode.class);
  private static final List<TransitionKindProto> REPAIRS = List.of(TransitionKindProto.REPAIR);
  private static final List<TransitionKindProto> CONVERSIONS =
      List.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REWRITE,
          TransitionKindProto.MOVE);
  // A job ends with its slowest transition; a second job uses the servers that are free meanwhile.
  // With four jobs the repair of a server took 40% longer on two cores, for all their threads.
  private static final int JOBS_PER_QUEUE = RaidConfig.JOBS_AT_ONCE / 2;

  // Limits what the maps of one job claim, so that every job ends and its counters are published.
  private static final int BATCHES_PER_JOB = 4;
  private static final RpcSettings NAMENODE_RPC =
      RpcSettings.tryOnce(60_000).withConnectTimeout(10_000);
  private static final long CLOSE_MILLIS = 10_000;
  private static final long SCRUB_LOOK_MILLIS = 10_000;

  private final RaidConfig config;
  private final TransitionClaimer claimer;
  private final String name;
  private final AtomicLong batches = new AtomicLong();
  private final JobRunner jobs;
  private final TransitionExecutor executor;
  private final JobHistory history = new JobHistory();
  private final ParityScrubber scrub;

  private final List<Thread> queues = new ArrayList<>();
  private final ScheduledExecutorService renewals;
  private final List<AutoCloseable> connections = new ArrayList<>();
  private final Object work = new Object();
  private long wakeUps;
  private volatile boolean closed;

  /**
   * A raid-node that is not started yet.
   *
   * @param data a directory of its own for staging; emptied
   * @param namenode host:port, for maps that run in another JVM
   * @param key for maps that run in another JVM
   */
  public RaidNode(
      RaidConfig config,
      CodeRegistry codes,
      Path data,
      String namenode,
      ServiceKey key,
      Supplier<CodingProtocol> coding,
      ChunkChannel chunks)
      throws IOException {
    this.config = config;
    this.claimer = new TransitionClaimer(coding, config.leaseMillis());
    this.name = "raid-" + UUID.randomUUID().toString().substring(0, 8);
    this.jobs = new JobRunner(config, data, namenode, key);
    ParallelCalls threads = ParallelCalls.inThreads("raid-ask");
    connections.add(threads);
    Throttle bytes = new Throttle(config.bytesPerSecond(), System::nanoTime, Thread::sleep);
    this.executor =
        new TransitionExecutor(
            name,
            coding.get(),
            chunks,
            bytes,
            new CombineLimiter(config.combines(), config.combinesPerServer()),
            threads,
            Thread::sleep);
    this.scrub =
        new ParityScrubber(
            config.scrub(),
            codes,
            coding,
            chunks,
            new Throttle(config.scrub().stripesPerSecond(), System::nanoTime, Thread::sleep),
            bytes,
            Clock.systemUTC());
    this.renewals =
        Executors.newSingleThreadScheduledExecutor(task -> DaemonThreads.of(task, "raid-renewals"));
  }

  /** A raid-node that talks to a namenode and its chunk servers over Hadoop RPC. */
  public static RaidNode overRpc(
      RaidConfig config,
      CodeRegistry codes,
      Path data,
      InetSocketAddress namenode,
      ServiceKey key)
      throws IOException {
    NamenodeClient client = new NamenodeClient(namenode, NAMENODE_RPC, key);
    RpcChunkChannel chunks = new RpcChunkChannel(config.combineTimeoutMillis(), key);
    RaidNode node =
        new RaidNode(
            config,
            codes,
            data,
            namenode.getHostString() + ":" + namenode.getPort(),
            key,
            client::coding,
            chunks);
    node.connections.add(chunks);
    node.connections.add(client);
    return node;
  }

  /** Starts to claim and to run. */
  public void start() {
    long third = Math.max(1, config.leaseMillis() / 3);
    renewals.scheduleWithFixedDelay(claimer::renewAll, third, third, TimeUnit.MILLISECONDS);
    for (int i = 0; i < JOBS_PER_QUEUE; i++) {
      queues.add(DaemonThreads.of(() -> loop("repair", REPAIRS), "raid-repair-" + i));
      queues.add(DaemonThreads.of(() -> loop("convert", CONVERSIONS), "raid-convert-" + i));
    }
    if (config.scrub().periodMillis() > 0) {
      queues.add(DaemonThreads.of(this::scrubLoop, "raid-scrub"));
    }
    queues.forEach(Thread::start);
  }

  /** Makes the queues claim now, without waiting for the next poll. */
  public void wake() {
    synchronized (work) {
      wakeUps++;
      work.notifyAll();
    }
  }

  /** The latest jobs, newest first. */
  public List<JobStatus> jobs() {
    return history.jobs();
  }

  /** Counters over all jobs of this process: see {@link JobStatus#counters}, and jobs by state. */
  public Map<String, Long> totals() {
    return history.totals();
  }

  // ---- the queues -------------------------------------------------------------------------------

  private void loop(String queue, List<TransitionKindProto> kinds) {
    String trouble = "";
    String worker = workerName(queue);
    while (!closed) {
      long seen = wakeUps();
      try {
        ClaimedBatch batch = batch(worker, kinds);
        trouble = "";
        if (!batch.claim(config.batch()).isEmpty()) {
          FailPoint.RAID_AFTER_CLAIM.reach();
          runJob(queue, worker, batch);
          worker = workerName(queue);
          continue;
        }
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
        // The same error is logged once, not at every poll.
        if (!closed && !trouble.equals(e.toString())) {
          trouble = e.toString();
          LOG.warn("{} queue: {}; trying again", queue, trouble);
        }
      }
      if (!await(seen)) {
        return;
      }
    }
  }

  // ---- the scrub --------------------------------------------------------------------------------

  private void scrubLoop() {
    String trouble = "";
    while (!closed) {
      try {
        long wait = scrub.step();
        trouble = "";
        // Looks again soon: another raid-node may run the pass, or somebody may set the clock.
        Thread.sleep(Math.min(wait, SCRUB_LOOK_MILLIS));
      } catch (InterruptedException e) {
        return;
      } catch (IOException | RuntimeException e) {
        if (!closed && !trouble.equals(e.toString())) {
          trouble = e.toString();
          LOG.warn("scrub: {}; trying again", trouble);
        }
        if (!await(wakeUps())) {
          return;
        }
      }
    }
  }

  private String workerName(String queue) {
    return "%s-%s-%d".formatted(name, queue, batches.incrementAndGet());
  }

  private long wakeUps() {
    synchronized (work) {
      return wakeUps;
    }
  }

  private boolean await(long seen) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.pollMillis());
    synchronized (work) {
      try {
        long left = config.pollMillis();
        while (wakeUps == seen && left > 0 && !closed) {
          work.wait(left);
          left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        return true;
      } catch (InterruptedException e) {
        return false;
      }
    }
  }

  private ClaimedBatch batch(String worker, List<TransitionKindProto> kinds) {
    return new ClaimedBatch(
        BATCHES_PER_JOB * config.batch(),
        limit -> closed ? List.of() : claimer.claim(worker, kinds, limit),
        claimed -> claimer.keep(worker, claimed));
  }

  private void runJob(String queue, String worker, ClaimedBatch batch)
      throws IOException, InterruptedException {
    JobStatus running =
        new JobStatus(
            "", queue, "RUNNING", System.currentTimeMillis(), 0, batch.kinds(), Map.of(), "");
    history.started(running);
    try {
      JobRunner.End end = jobs.run(batch, executor.named(worker), id -> claimer.isLost(worker, id));
      history.ended(running, ended(running, batch, end));
      LOG.info("{} {} {}: {}", queue, end.id(), batch.kinds(), end.counters());
      if (!end.succeeded()) {
        LOG.warn("job {} failed: {}; its claims expire", end.id(), end.failure());
      }
    } catch (IOException | RuntimeException e) {
      JobRunner.End end = new JobRunner.End("", false, Map.of(), e.toString());
      history.ended(running, ended(running, batch, end));
      throw e;
    } finally {
      claimer.release(worker, batch.claimed());
    }
  }

  private static JobStatus ended(JobStatus running, ClaimedBatch batch, JobRunner.End end) {
    return new JobStatus(
        end.id(),
        running.queue(),
        end.succeeded() ? "SUCCEEDED" : "FAILED",
        running.startedMillis(),
        System.currentTimeMillis(),
        batch.kinds(),
        end.counters(),
        end.failure());
  }

  /** Stops claiming and interrupts the jobs. The claims of unfinished transitions expire. */
  @Override
  public void close() throws IOException {
    closed = true;
    wake();
    renewals.shutdownNow();
    queues.forEach(Thread::interrupt);
    try {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
      for (Thread queue : queues) {
        queue.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
      }
      for (AutoCloseable connection : connections) {
        connection.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IOException("closing the raid-node", e);
    }
  }
}
